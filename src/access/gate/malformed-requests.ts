/** Answers what is no request: malformed bytes, requests that never end, and oversized headers. */

import type { Server } from "node:http";

import { codeOf } from "../../base/support/index.ts";

const NOT_REQUESTS: ReadonlyMap<string | undefined, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

export function answerMalformedRequests(server: Server): void {
  server.on("clientError", (error, socket) => {
    // Not left half open: a client that sends malformed requests would not close its half either.
    if (socket.writable) socket.end(answerTo(error), () => socket.destroy());
    else socket.destroy();
  });
}

function answerTo(error: Error): string {
  const line = NOT_REQUESTS.get(codeOf(error)) ?? "400 Bad Request";
  return `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
}
