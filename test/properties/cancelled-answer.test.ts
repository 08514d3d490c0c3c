import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { postStream } from "../../src/runtime/wire/index.ts";

test("a request cancelled when its whole answer has arrived rejects with the reason and harms nothing else", async () => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200);
      response.flushHeaders();
      for (let count = 0; count < 5; count += 1) response.write("piece");
      response.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve());
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const uncaught: unknown[] = [];
  const note = (error: unknown): number => uncaught.push(error);
  process.on("uncaughtException", note);
  try {
    const outcomes: unknown[] = [];
    for (let time = 0; time < 5; time += 1) {
      const controller = new AbortController();
      const { body } = await postStream({
        url,
        headers: {},
        body: [Buffer.from("{}")],
        signal: controller.signal,
        timeouts: { firstByteMs: 90_000, idleMs: 90_000 },
      });
      try {
        for await (const _ of body) controller.abort(new Error("stopped"));
        outcomes.push("ended");
      } catch (error) {
        outcomes.push((error as Error).message);
      }
    }
    const after = await postStream({
      url,
      headers: {},
      body: [Buffer.from("{}")],
      signal: new AbortController().signal,
      timeouts: { firstByteMs: 90_000, idleMs: 90_000 },
    });
    for await (const _ of after.body);
    expect({ outcomes, uncaught }).toEqual({ outcomes: Array(5).fill("stopped"), uncaught: [] });
  } finally {
    process.off("uncaughtException", note);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
});
