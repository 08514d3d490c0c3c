import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, describe, expect, test } from "vitest";

import { ResponsesDecoder } from "./openai-responses/index.ts";
import type { SendOptions, StreamEnd, StreamEvent } from "./provider.ts";
import { type Endpoint, sendRequest } from "./transport.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function send(
  baseUrl: string,
  endpoint: Partial<Endpoint> = {},
  options: Partial<SendOptions> = {},
): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  const stream = sendRequest(
    {
      baseUrl: async () => baseUrl,
      path: "/responses",
      headers: (key) => ({ authorization: `Bearer ${key}` }),
      createDecoder: () => new ResponsesDecoder(),
      apiKey: async () => "sk-1",
      keyName: "SOME_KEY",
      ...endpoint,
    },
    [Buffer.from("{}")],
    { signal: new AbortController().signal, timeouts: { firstByteMs: 90_000, idleMs: 90_000 }, ...options },
  );
  for await (const batch of stream) events.push(...batch);
  return events;
}

function endOf(events: readonly StreamEvent[]): StreamEnd {
  const ends = events.flatMap((event) => (event.type === "end" ? [event.end] : []));
  expect(ends).toHaveLength(1);
  return ends[0] as StreamEnd;
}

const sse = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const completed = { type: "response.completed", response: { status: "completed", output: [] } };

const closedVault = async (): Promise<string> => {
  throw new Error("the vault is closed");
};

describe("sendRequest", () => {
  test("sends the key, headers and body to the dialect's path, and streams the response", async () => {
    let seen = {};
    const url = await serve((request, response) => {
      const { authorization, accept, "x-extra": extra } = request.headers;
      seen = { path: request.url, authorization, accept, extra };
      response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_1" });
      response.end(sse(completed));
    });
    const bytes: number[] = [];
    const events = await send(
      `${url}//`,
      { headers: (key) => ({ authorization: `Bearer ${key}`, "x-extra": "1" }) },
      { onBytes: (chunk) => bytes.push(chunk.length) },
    );
    expect(endOf(events)).toEqual({ status: "completed", requestId: "req_1" });
    expect(seen).toEqual({
      path: "/v1/responses",
      authorization: "Bearer sk-1",
      accept: "text/event-stream",
      extra: "1",
    });
    expect(bytes.length).toBeGreaterThan(0);
  });

  test("reads a response that does not stream", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      const output = [{ id: "msg_1", type: "message", content: [{ type: "output_text", text: "Hi." }] }];
      response.end(JSON.stringify({ object: "response", status: "completed", output }));
    });
    const events = await send(url);
    expect(endOf(events).status).toBe("completed");
    expect(events.filter((event) => event.type === "item_done")).toHaveLength(1);
  });

  test("does not wait for anything after the terminal event", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(completed)); // the connection stays open
    });
    expect(endOf(await send(url)).status).toBe("completed");
  });

  test("names the missing key and the alternatives", async () => {
    for (const key of [undefined, ""]) {
      expect(endOf(await send("http://127.0.0.1:1/v1", { apiKey: async () => key }))).toEqual({
        status: "cut",
        error: {
          code: "api_key_missing",
          class: "FATAL",
          message: "no API key: set SOME_KEY, or pass apiKey, or use the built-in emulator (no key needed)",
        },
      });
    }
  });

  test("reports an error's status, code and request id", async () => {
    const url = await serve((_, response) => {
      response.writeHead(404, { "content-type": "application/json", "x-request-id": "req_2" });
      response.end('{"error":{"message":"no such model","code":"model_not_found"}}');
    });
    expect(endOf(await send(url))).toEqual({
      status: "failed",
      requestId: "req_2",
      error: {
        code: "model_not_found",
        message: "no such model",
        class: "FATAL",
        status: 404,
        requestId: "req_2",
      },
    });
  });

  test.each([
    [200, "OTHER"],
    [404, "OTHER"],
    [502, "TRUNC"],
  ])("treats a web page with status %i as an error", async (status, errorClass) => {
    const url = await serve((_, response) => {
      response.writeHead(status, { "content-type": "text/html; charset=utf-8" });
      response.end("  Welcome to the wrong place");
    });
    expect(endOf(await send(url))).toMatchObject({
      status: "failed",
      error: {
        code: "not_an_api",
        class: errorClass,
        message: expect.stringContaining("check the base URL"),
      },
    });
  });

  test("does not follow a redirect, and reports its target", async () => {
    const url = await serve((_, response) => {
      response.writeHead(308, { location: "https://elsewhere.test/v1" });
      response.end();
    });
    expect(endOf(await send(url))).toMatchObject({
      status: "failed",
      error: {
        code: "redirected",
        class: "OTHER",
        message: expect.stringContaining("https://elsewhere.test/v1"),
      },
    });
  });

  test("reports a stream that ends early, breaks or goes silent as cut, with the cause", async () => {
    const early = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse({ type: "response.created", response: {} }));
    });
    expect(endOf(await send(early))).toMatchObject({
      status: "cut",
      error: { code: "stream_cut", class: "TRUNC" },
    });
    const broken = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_3" });
      response.write(": hi\n");
      setImmediate(() => response.destroy());
    });
    expect(endOf(await send(broken))).toMatchObject({
      status: "cut",
      requestId: "req_3",
      error: { code: "connection_lost", class: "TRUNC" },
    });
    const silent = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hi\n");
    });
    expect(endOf(await send(silent, {}, { timeouts: { firstByteMs: 90_000, idleMs: 30 } }))).toMatchObject({
      status: "cut",
      error: { code: "timeout_idle", class: "TRUNC" },
    });
  });

  test("ends an aborted response as cancelled, not as an error", async () => {
    const controller = new AbortController();
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse({ type: "response.created", response: {} }));
      controller.abort();
    });
    expect(endOf(await send(url, {}, { signal: controller.signal }))).toMatchObject({ status: "cancelled" });
  });

  test.each(["apiKey", "baseUrl"] as const)("does not wait for a pending %s after an abort", async (part) => {
    const controller = new AbortController();
    const hanging = {
      [part]: () => {
        setImmediate(() => controller.abort());
        return new Promise<never>(() => undefined);
      },
    };
    const events = await send("http://127.0.0.1:1/v1", hanging, { signal: controller.signal });
    expect(endOf(events)).toEqual({ status: "cancelled" });
  });

  test("reports a key that cannot be loaded as an error of the request and does not throw", async () => {
    expect(endOf(await send("http://127.0.0.1:1/v1", { apiKey: closedVault }))).toMatchObject({
      status: "cut",
      error: { message: "the vault is closed" },
    });
  });
});
