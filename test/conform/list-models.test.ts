import { expect, test } from "vitest";

import { listModels } from "../../src/diagnostics/conform/index.ts";
import { flood, rawServer } from "../support/raw-server.ts";

const ask = (baseUrl: string, timeoutMs: number): Promise<readonly string[]> =>
  listModels({ baseUrl, apiKey: undefined, timeoutMs, signal: new AbortController().signal });

test("an endless list is read only up to its limit", async () => {
  const { origin } = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    flood(socket, " ".repeat(1024));
  });
  expect(await ask(origin, 3_600_000)).toEqual([]);
});

test.each([
  ["to a named protocol", "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
  ["without saying to which", "HTTP/1.1 101 X\r\n\r\n"],
])("a server that switches protocols %s is an error with a code", async (_what, head) => {
  const { origin } = await rawServer((socket) => void socket.write(head));
  await expect(ask(origin, 200)).rejects.toMatchObject({ code: "server_unreachable" });
});
