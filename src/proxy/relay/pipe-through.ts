/** Requests that are not read: models, files, audio, batches. Never buffered, whatever their size. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";

import { upstreamFailed } from "./own-answers.ts";
import { passedHeaders, type Sending, type Upstreams } from "./upstreams.ts";

const NOTHING = Buffer.alloc(0);

/** How the body is framed. Node would announce one for every POST. */
function framing(method: string, length: string | undefined, chunked: boolean): readonly string[] {
  if (chunked) return ["transfer-encoding", "chunked"];
  return length === undefined && /^(?:POST|PUT|PATCH)$/.test(method) ? ["content-length", "0"] : [];
}

/** `begun`: what was read of the body already. */
export function pipeThrough(
  request: IncomingMessage,
  response: ServerResponse,
  sending: Sending,
  upstreams: Upstreams,
  begun: readonly Buffer[] = [],
): Promise<void> {
  return new Promise((resolve) => {
    const gone = new AbortController();
    const length = request.headers["content-length"];
    const chunked = length === undefined && request.headers["transfer-encoding"] !== undefined;
    const outgoing = upstreams.open(
      { ...sending, headers: [...sending.headers, ...framing(request.method ?? "", length, chunked)] },
      gone.signal,
    );
    response.once("close", () => {
      gone.abort();
      resolve();
    });
    outgoing.on("error", (error) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else upstreamFailed(response, { name: "the upstream", url: sending.url }, error);
    });
    outgoing.on("response", (answer) => {
      response.sendDate = false;
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedHeaders(answer.rawHeaders));
      pipeline(answer, response, () => undefined);
    });
    if (length === undefined && !chunked) {
      outgoing.end(); // there is no body

      return;
    }
    outgoing.write(NOTHING); // sends the head; `flushHeaders` would encode it as UTF-8
    for (const chunk of begun) outgoing.write(chunk);
    pipeline(request, outgoing, () => undefined);
  });
}
