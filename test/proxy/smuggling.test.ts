import { once } from "node:events";
import * as http from "node:http";
import { syncBuiltinESMExports } from "node:module";

import { describe, expect, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import { both, get } from "./support/gate-world.ts";
import { ask, openClient } from "./support/wire.ts";

describe("what is no clean request reaches no upstream", () => {
  const smuggled = "GET /up/smuggled HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n";
  const cases: Readonly<Record<string, string>> = {
    "a length and chunks": `Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    "chunks and a length": `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${smuggled}`,
    "two lengths": `Content-Length: 0\r\nContent-Length: 60\r\n\r\n${smuggled}`,
    "two equal lengths": `Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${smuggled}`,
    "a list of lengths": `Content-Length: 2, 2\r\n\r\n{}${smuggled}`,
    "a signed length": `Content-Length: +2\r\n\r\n{}${smuggled}`,
    "a hexadecimal length": `Content-Length: 0x2\r\n\r\n{}${smuggled}`,
    "a coding that is not chunked": `Transfer-Encoding: xchunked\r\n\r\n${smuggled}`,
    "chunked, then another coding": `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    "two codings": `Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${smuggled}`,
    "a chunk size that is none": `Transfer-Encoding: chunked\r\n\r\nzz\r\n${smuggled}`,
    "a chunk that ends with LF": `Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n${smuggled}`,
    "a space before the colon": `Content-Length : 0\r\n\r\n${smuggled}`,
    "a folded header": `X-A: a\r\n Content-Length: 60\r\n\r\n${smuggled}`,
    "a CR in a header": `X-A: a\rX-Injected: b\r\n\r\n${smuggled}`,
    "a NUL in a header": `X-A: a\0b\r\n\r\n${smuggled}`,
    "a header without a name": `: a\r\n\r\n${smuggled}`,
    "a header line without a colon": `nonsense\r\n\r\n${smuggled}`,
    "headers that end with LF": `X-A: a\n\n${smuggled}`,
  };

  test.for(Object.entries(cases))("%s", async ([, text]) => {
    for (const path of ["/up/v1/responses", "/up/v1/files"]) {
      const { upstream, proxy } = await both();
      const lines = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\n${text.replace("PORT", String(proxy.port))}`;
      const client = openClient(proxy.port, Buffer.from(lines, "latin1"));
      const got = await client.answer;
      await once(client.socket, "close"); // nothing more is read from this connection
      expect(got.status).toBe(400);
      expect(upstream.requests).toEqual([]);
    }
  });

  test("a head that never ends is given up", async () => {
    // The proxy's own limit is half a minute; its server is made a hundred times as hasty.
    const patched = process.getBuiltinModule("node:http") as { createServer: unknown };
    const { createServer } = http;
    patched.createServer = (options: http.ServerOptions) =>
      createServer({
        ...options,
        headersTimeout: (options.headersTimeout ?? 0) / 100,
        connectionsCheckingInterval: 20,
      });
    syncBuiltinESMExports();
    afterTest(() => {
      patched.createServer = createServer;
      syncBuiltinESMExports();
    });
    const { upstream, proxy } = await both();
    const client = openClient(
      proxy.port,
      Buffer.from(`POST /up/v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nX-Slow: `),
    );
    expect((await client.answer).status).toBe(408);
    expect(upstream.requests).toEqual([]);
  });

  test("a head of more than 64 KiB is refused, and one below it passes", async () => {
    const { upstream, proxy } = await both();
    const asked = (size: number): Buffer => get(proxy.port, "/up/v1/models", [["X-Large", "x".repeat(size)]]);
    expect((await ask(proxy.port, asked(70_000))).status).toBe(431);
    expect((await ask(proxy.port, asked(50_000))).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
  });
});
