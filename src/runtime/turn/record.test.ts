import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { memoryStore } from "../log/index.ts";
import { openai } from "../models/index.ts";
import { createAgent } from "../session/index.ts";

test("a key echoed by a server is redacted before the message is shortened, wherever the cut falls", async () => {
  const key = "sk-canary-0123456789abcdef";
  for (const before of [2020, 2030, 2040, 2047, 180, 199]) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(400, { "content-type": "text/plain" });
      response.end(`${"x".repeat(before)}${key}${"y".repeat(5000)}`);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const session = await createAgent({ model: openai("m", { apiKey: key, baseUrl }) }).open({
      store: memoryStore(),
    });
    const { status, error } = await session.send("hi").result();
    expect(status).toBe("failed");
    expect(error?.message.length).toBeLessThanOrEqual(2048);
    expect(error?.message).not.toContain("sk-");
    expect(error?.message).toContain("xxx");
    await session.close();
    server.close();
  }
});
