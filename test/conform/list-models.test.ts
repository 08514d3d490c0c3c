import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { listModels } from "../../src/diagnostics/conform/index.ts";
import { afterTest } from "../support/clean-up.ts";

async function rawServer(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const ask = (baseUrl: string, timeoutMs: number): Promise<readonly string[]> =>
  listModels({ baseUrl, apiKey: undefined, timeoutMs, signal: new AbortController().signal });

test("a list without end is read no further than its limit", async () => {
  const baseUrl = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    const more = (): void => {
      if (!socket.destroyed) socket.write(" ".repeat(64 * 1024), () => setImmediate(more));
    };
    more();
  });
  expect(await ask(baseUrl, 3_600_000)).toEqual([]);
});

test.each([
  ["to a named protocol", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
  ["without saying to which", "HTTP/1.1 101 X\r\n\r\n"],
])("a server that switches protocols %s is an error with a code", async (_what, head) => {
  const baseUrl = await rawServer((socket) => void socket.write(head));
  await expect(ask(baseUrl, 200)).rejects.toMatchObject({ code: "server_unreachable" });
});
