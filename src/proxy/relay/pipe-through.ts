/** Requests that are not read: models, files, audio, batches. Never buffered, whatever their size. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";

import { upstreamFailed } from "./own-answers.ts";
import { passedHeaders, type Sending, type Upstreams } from "./upstreams.ts";

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
      chunked ? { ...sending, headers: [...sending.headers, "transfer-encoding", "chunked"] } : sending,
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
      outgoing.useChunkedEncodingByDefault = false; // there is no body, and none is announced
      outgoing.end();
      return;
    }
    outgoing.flushHeaders();
    for (const chunk of begun) outgoing.write(chunk);
    pipeline(request, outgoing, () => undefined);
  });
}
