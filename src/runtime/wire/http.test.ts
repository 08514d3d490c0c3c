import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type AddressInfo, type Socket } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";

import { afterEach, describe, expect, test, vi } from "vitest";

import { type HttpRequest, postStream, readText } from "./http.ts";

const servers: Server[] = [];
const toClose: (() => void)[] = [];

afterEach(async () => {
  for (const close of toClose.splice(0)) close();
  await Promise.all(
    servers.splice(0).map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    ),
  );
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/responses`;
}

const request = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  url,
  headers: { "content-type": "application/json" },
  body: [Buffer.from('{"a":'), Buffer.from("1}")],
  signal: new AbortController().signal,
  timeouts: { firstByteMs: 90_000, idleMs: 90_000 },
  ...more,
});

/** Reads one chunk of an endless response, leaves, and waits until the server has noticed. */
async function leaveEarly(
  way: Partial<HttpRequest>,
  answer: (response: ServerResponse) => void,
): Promise<void> {
  const closings: Promise<unknown>[] = [];
  const url = await serve((incoming, response) => {
    incoming.resume();
    closings.push(once(response, "close"));
    answer(response);
  });
  const { body } = await postStream(request(url, way));
  for await (const chunk of body) if (chunk.length > 0) break;
  await closings[0];
}

async function* twoPiecesThenTrouble(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("hello ");
  yield Buffer.from("world");
  throw new Error("read too far");
}

/** Both carriers: Node's own client, and a supplied fetch. */
const WAYS: readonly (readonly [string, Partial<HttpRequest>])[] = [
  ["node:http", {}],
  ["a supplied fetch", { fetch: globalThis.fetch }],
];

async function failure(
  promise: Promise<unknown>,
): Promise<{ readonly code?: string; readonly message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { readonly code?: string; readonly message: string };
  }
  throw new Error("it did not fail");
}

describe.each(WAYS)("by %s", (_, way) => {
  test("posts the body at once and returns status, headers and bytes", async () => {
    let seen = {};
    const url = await serve((incoming, response) => {
      const pieces: Buffer[] = [];
      incoming.on("data", (piece: Buffer) => pieces.push(piece));
      incoming.on("end", () => {
        seen = { method: incoming.method, path: incoming.url, body: Buffer.concat(pieces).toString() };
        response.writeHead(201, { "X-Request-Id": "req_1", "content-type": "text/plain" });
        response.end("fine");
      });
    });
    const response = await postStream(request(url, way));
    expect(response.status).toBe(201);
    expect(response.headers).toMatchObject({ "x-request-id": "req_1", "content-type": "text/plain" });
    expect(await readText(response.body, 1000)).toBe("fine");
    expect(seen).toEqual({ method: "POST", path: "/v1/responses", body: '{"a":1}' });
  });

  test("follows no redirect, so the key goes nowhere else", async () => {
    let visits = 0;
    const url = await serve((incoming, response) => {
      visits += 1;
      incoming.resume();
      response.writeHead(307, { location: "/elsewhere" });
      response.end();
    });
    const response = await postStream(request(url, way));
    expect([response.status, response.headers["location"]]).toEqual([307, "/elsewhere"]);
    await readText(response.body, 100);
    expect(visits).toBe(1);
  });

  test("reports a refused connection if there is no server", async () => {
    const url = await serve(() => undefined);
    const [server] = servers.splice(0);
    await new Promise<void>((resolve) => server?.close(() => resolve()));
    expect(await failure(postStream(request(url, way)))).toMatchObject({
      code: "connect_refused",
      message: expect.stringContaining("refused the connection"),
    });
  });

  test("reports a timeout if the head does not arrive in time", async () => {
    const url = await serve((incoming) => incoming.resume());
    const late = postStream(request(url, { ...way, timeouts: { firstByteMs: 30, idleMs: 10_000 } }));
    expect(await failure(late)).toMatchObject({
      code: "timeout_first_byte",
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ sent nothing for 30 ms$/),
    });
  });

  test.each([
    ["never begins", ""],
    ["goes silent", ":\n"],
  ])("reports a timeout if the body %s", async (_what, begins) => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200);
      response.flushHeaders();
      if (begins !== "") response.write(begins);
    });
    const { body } = await postStream(
      request(url, { ...way, timeouts: { firstByteMs: 60_000, idleMs: 40 } }),
    );
    expect(await failure(readText(body, 1000))).toMatchObject({ code: "timeout_idle" });
  });

  test("ends with the caller's reason on an abort before, while waiting and during the body", async () => {
    const reason = new Error("the user pressed a key");
    await expect(
      postStream(request("http://127.0.0.1:1/", { ...way, signal: AbortSignal.abort(reason) })),
    ).rejects.toBe(reason);

    const waiting = new AbortController();
    const silent = await serve((incoming) => {
      incoming.resume();
      waiting.abort(reason);
    });
    await expect(postStream(request(silent, { ...way, signal: waiting.signal }))).rejects.toBe(reason);

    const talking = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200);
      response.write("one");
    });
    const reading = new AbortController();
    const { body } = await postStream(request(talking, { ...way, signal: reading.signal }));
    await expect(
      (async () => {
        for await (const chunk of body) reading.abort(chunk.length > 0 ? reason : undefined);
      })(),
    ).rejects.toBe(reason);
  });

  test("reports a connection that breaks midway as lost, not as ended", async () => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      response.once("drain", () => undefined);
      setImmediate(() => response.destroy());
    });
    const broken = postStream(request(url, way)).then(({ body }) => readText(body, 1000));
    expect(await failure(broken)).toMatchObject({ code: "connection_lost" });
  });

  test("stops a response longer than the limit", async () => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.end(Buffer.alloc(5000, "x"));
    });
    const { body } = await postStream(request(url, { ...way, maxResponseBytes: 1000 }));
    expect(await failure(readText(body, 10_000))).toMatchObject({
      code: "stream_limit",
      message: "the response is longer than 1000 bytes",
    });
  });

  test("frees the connection if the caller stops reading", async () => {
    await leaveEarly(way, (response) => {
      response.writeHead(200);
      response.write("one");
    });
  });
});

describe("a supplied fetch that ignores its signal", () => {
  const never = new Promise<never>(() => undefined);
  const reason = new Error("the user pressed a key");
  /** The first chunk, and then nothing. */
  const stuck = async (): Promise<Response> =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from("one")),
        pull: () => never,
      }),
    );

  test.each([
    ["and never answers", (): Promise<Response> => never],
    ["and whose body never continues", stuck],
  ])("%s is still ended by an abort, with its reason", async (_what, fetcher) => {
    const controller = new AbortController();
    const reading = (async () => {
      const { body } = await postStream(
        request("http://127.0.0.1:1/", { fetch: fetcher, signal: controller.signal }),
      );
      for await (const _ of body) setImmediate(() => controller.abort(reason));
    })();
    if (fetcher !== stuck) setImmediate(() => controller.abort(reason));
    await expect(reading).rejects.toBe(reason);
  });

  test("and never answers times out, and so does one whose body never continues", async () => {
    const timeouts = { firstByteMs: 30, idleMs: 30 };
    expect(
      await failure(postStream(request("http://127.0.0.1:1/", { fetch: () => never, timeouts }))),
    ).toMatchObject({ code: "timeout_first_byte" });
    const { body } = await postStream(request("http://127.0.0.1:1/", { fetch: stuck, timeouts }));
    expect(await failure(readText(body, 100))).toMatchObject({ code: "timeout_idle" });
  });
});

test("a response whose end follows the data that matters leaves its connection for the next request", async () => {
  const sockets = new Set<Socket>();
  let requests = 0;
  let answer: ServerResponse | undefined;
  const url = await serve((incoming, response) => {
    incoming.resume();
    sockets.add(incoming.socket);
    response.writeHead(200);
    response.write("all that matters");
    answer = response;
  });
  // It does not matter when the end arrives: sooner or later a request finds the connection free.
  const reused = async (): Promise<boolean> => {
    requests += 1;
    const { body } = await postStream(request(url));
    await body.next();
    body.release();
    answer?.end();
    return sockets.size < requests;
  };
  await expect.poll(reused).toBe(true);
});

test("a kept-alive connection that the server closes on reuse does not lose the response", async () => {
  const used = new Set<Socket>();
  let resets = 0;
  const url = await serve((incoming, response) => {
    if (used.has(incoming.socket)) {
      resets += 1;
      incoming.socket.destroy();
      return;
    }
    used.add(incoming.socket);
    incoming.resume();
    response.end("an answer");
  });
  const answers = new Set<string>();
  const reset = async (): Promise<boolean> => {
    const answer = postStream(request(url)).then(({ body }) => readText(body, 100));
    answers.add(await answer.catch((error: Error) => error.message));
    return resets > 0;
  };
  await expect.poll(reset).toBe(true);
  expect(answers).toEqual(new Set(["an answer"]));
});

test("a server that resets every connection gets the request once more at most", async () => {
  let asked = 0;
  let answers = true;
  const url = await serve((incoming, response) => {
    asked += 1;
    incoming.resume();
    if (answers) response.end("an answer");
    else incoming.socket.destroy();
  });
  await readText((await postStream(request(url))).body, 100);
  answers = false;
  expect(await failure(postStream(request(url)))).toMatchObject({ code: "connection_lost" });
  expect(asked).toBeLessThanOrEqual(3);
});

describe("the encoding", () => {
  test.each([
    ["gzip", gzipSync("hello")],
    ["br", brotliCompressSync("hello")],
    ["deflate", deflateSync("hello")],
    ["identity", Buffer.from("hello")],
  ])("%s is decoded although it was not requested", async (encoding, bytes) => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { "content-encoding": encoding });
      response.end(bytes);
    });
    const { body } = await postStream(request(url));
    expect(await readText(body, 100)).toBe("hello");
  });

  test("is reported with a coded error if it is unknown", async () => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { "content-encoding": "zstd" });
      response.end("x");
    });
    expect(await failure(postStream(request(url)))).toMatchObject({
      code: "bad_response",
      message: expect.stringContaining('"zstd"'),
    });
  });

  test("is reported as a lost connection if the bytes are invalid, and does not crash", async () => {
    const url = await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end("this is not gzip");
    });
    const { body } = await postStream(request(url));
    expect(await failure(readText(body, 100))).toMatchObject({ code: "connection_lost" });
  });

  test("frees the connection even if a compressed response is not read to its end", async () => {
    await leaveEarly({}, (response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write("one");
      gzip.flush();
    });
  });
});

/** Accepts the connection and says nothing, so TLS is never negotiated. */
async function muteServer(): Promise<string> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket.on("error", () => undefined)));
  toClose.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/responses`;
}

describe("a connection that is not established", () => {
  test("has its own timeout, long before that of the first byte", async () => {
    const url = await muteServer();
    const timeouts = { connectMs: 30, firstByteMs: 3_600_000, idleMs: 3_600_000 };
    expect(await failure(postStream(request(url, { timeouts })))).toMatchObject({
      code: "timeout_connect",
      message: expect.stringMatching(/^no connection to 127\.0\.0\.1:\d+ within 30 ms/),
    });
  });

  test("ends at the first-byte timeout if that is shorter", async () => {
    const url = await muteServer();
    const timeouts = { connectMs: 3_600_000, firstByteMs: 30, idleMs: 3_600_000 };
    expect(await failure(postStream(request(url, { timeouts })))).toMatchObject({
      code: "timeout_first_byte",
    });
  });

  test("does not shorten the wait for a response once it is established", async () => {
    // The connect timeout no longer applies when the request has arrived, however slow the machine is.
    const connectMs = 765_432;
    let timer: NodeJS.Timeout | undefined;
    let timeIsOver: (() => void) | undefined;
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((then: () => void, ms?: number) => {
      const made = set(then, ms);
      if (ms === connectMs) [timer, timeIsOver] = [made, then];
      return made;
    });
    vi.spyOn(globalThis, "clearTimeout").mockImplementation((one) => {
      if (one === timer) timeIsOver = undefined;
      clear(one);
    });
    const url = await serve((incoming, response) => {
      incoming.resume();
      timeIsOver?.();
      response.end("late");
    });
    const timeouts = { connectMs, firstByteMs: 3_600_000, idleMs: 3_600_000 };
    const { body } = await postStream(request(url, { timeouts }));
    expect(await readText(body, 100)).toBe("late");
    expect(timer).toBeDefined();
  });
});

test("readText reads no more than its limit", async () => {
  expect(await readText(twoPiecesThenTrouble(), 8)).toBe("hello wo");
});

describe("an unreachable server is named", () => {
  test("if it does not speak TLS", async () => {
    const url = await serve((incoming) => incoming.resume());
    expect(await failure(postStream(request(url.replace("http:", "https:"))))).toMatchObject({
      code: "tls_failed",
    });
  });

  test.each([
    ["ENOTFOUND", "dns_failed", "cannot find the host example.test: check the base URL"],
    ["EAI_AGAIN", "dns_failed", "cannot find the host example.test: check the base URL"],
    ["ECONNREFUSED", "connect_refused", "example.test refused the connection: is a server running there?"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_failed", "no secure connection to example.test: no"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed", "no secure connection to example.test: no"],
    ["ECONNRESET", "connection_lost", "the connection to example.test was lost: no"],
  ])("for %s inside the error of a fetch", async (errno, code, message) => {
    const cause = Object.assign(new Error("no"), { code: errno });
    const failing = async (): Promise<Response> => {
      throw new TypeError("fetch failed", { cause });
    };
    expect(await failure(postStream(request("https://example.test/v1", { fetch: failing })))).toMatchObject({
      code,
      message,
    });
  });
});

test("a response before the request was read, then a reset, ends the exchange and not the process", async () => {
  const server = createSocketServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.pause();
      const answer = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno";
      socket.write(answer, () => setImmediate(() => socket.resetAndDestroy()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/responses`;
  const strays: unknown[] = [];
  const stray = (error: unknown): void => void strays.push(error);
  process.on("uncaughtException", stray);
  try {
    for (let n = 0; n < 20; n += 1) {
      const { status, body } = await postStream(request(url, { body: [Buffer.alloc(8 * 1024 * 1024)] }));
      expect(status).toBe(413);
      expect(await readText(body, 100)).toBe("no");
    }
  } finally {
    process.off("uncaughtException", stray);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
  expect(strays).toEqual([]);
});
