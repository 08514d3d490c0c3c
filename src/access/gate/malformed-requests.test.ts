import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import { answerMalformedRequests } from "./malformed-requests.ts";
import { listen } from "./server-address.ts";

test.for([
  ["no request", "no request\r\n\r\n", "400 Bad Request"],
  [
    "an oversized header",
    `GET / HTTP/1.1\r\nhost: x\r\nx: ${"x".repeat(16 * 1024)}\r\n\r\n`,
    "431 Request Header Fields Too Large",
  ],
] as const)("bytes with %s get an answer", async ([, bytes, line]) => {
  const server = createServer();
  answerMalformedRequests(server);
  const { port } = await listen(server, {}, 0);
  afterTest(() => server.close());
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(bytes);
  expect(await text(socket)).toBe(`HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
});
