/**
 * Answers a request whose body may still be arriving. Closing with unread bytes makes the system reset the connection,
 * and the sender then fails to write (EPIPE) instead of reading why it was refused. So the complete answer is sent with
 * `connection: close` and its length, and the rest of the body is read and dropped for a while before the socket closes
 * (RFC 9112 section 9.6). Most clients stop sending and close as soon as they have the answer.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { ServerLimits } from "./limits.ts";

export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, text }: EarlyAnswer,
  { lingerBytes, lingerMs }: Pick<ServerLimits, "lingerBytes" | "lingerMs">,
): void {
  if (!hasBody(request)) {
    response.writeHead(status, headers);
    response.end(text);
    return;
  }
  const body = Buffer.from(text);
  response.writeHead(status, { ...headers, connection: "close", "content-length": body.length });
  response.write(body);
  const close = (): void => {
    clearTimeout(deadline);
    response.end();
  };
  const deadline = setTimeout(close, lingerMs);
  deadline.unref();
  let dropped = 0;
  request.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > lingerBytes) request.pause(); // the answer stays in the sender's buffer until the time is up
  });
  request.resume(); // a route may have started reading it and stopped
  request.on("end", close);
  request.on("close", close);
  request.on("error", () => undefined); // a sender that left needs no answer
}

/** Whether part of the body may still arrive. */
function hasBody({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
