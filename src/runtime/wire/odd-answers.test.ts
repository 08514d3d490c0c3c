/**
 * Responses that no HTTP API should send, over real sockets: switched protocols, floods of 1xx, heads that break off or
 * make no sense. Each request ends with a status or a code, and leaves no connection behind.
 */

import type { Socket } from "node:net";

import { describe, expect, test } from "vitest";

import { flood, HINT, rawServer, SWITCH } from "../../../test/support/raw-server.ts";
import { type HttpRequest, postStream, readText } from "./http.ts";

const LONG = { firstByteMs: 3_600_000, idleMs: 3_600_000 };

/** How it ended: a status and its text, or a code. */
async function outcome(url: string, more: Partial<HttpRequest> = {}): Promise<string> {
  try {
    const { status, body } = await postStream({
      url,
      headers: { "content-type": "application/json" },
      body: [Buffer.from('{"a":1}')],
      signal: new AbortController().signal,
      timeouts: LONG,
      ...more,
    });
    return `${status} ${await readText(body, 10_000)}`;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? `no code: ${String(error)}`;
  }
}

const FINE = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine";

/** Sends one byte at a time, each in its own write. */
function drip(socket: Socket, text: string): void {
  socket.setNoDelay(true);
  const next = (at: number): void => {
    if (at < text.length && !socket.destroyed)
      socket.write(text.slice(at, at + 1), () => setImmediate(next, at + 1));
  };
  next(0);
}

describe("a response that switches protocols", () => {
  test.each([
    ["with nothing after it", (socket: Socket) => socket.write(SWITCH)],
    [
      "with bytes of the other protocol after it",
      (socket: Socket) => socket.write(`${SWITCH}\u0001\u0002frames`),
    ],
    ["with a response after it", (socket: Socket) => socket.write(`${SWITCH}${FINE}`)],
    ["one byte at a time", (socket: Socket) => drip(socket, SWITCH)],
    ["and closes", (socket: Socket) => socket.end(SWITCH)],
    [
      "after a 100 and a 103",
      (socket: Socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n${SWITCH}`),
    ],
    [
      "without naming the new protocol",
      (socket: Socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    ],
    [
      "with only a Connection header",
      (socket: Socket) => socket.write("HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n"),
    ],
    [
      "with only an Upgrade header",
      (socket: Socket) => socket.write("HTTP/1.1 101 X\r\nUpgrade: h2c\r\n\r\n"),
    ],
    [
      "with a length",
      (socket: Socket) => socket.write(SWITCH.replace("\r\n\r\n", "\r\ncontent-length: 5\r\n\r\nhello")),
    ],
  ])("%s is refused with a code, and its connection is closed", async (_what, answer) => {
    const server = await rawServer(answer);
    expect(await outcome(server.origin)).toBe("bad_response");
    await expect.poll(() => server.open.size).toBe(0);
  });

  test("reports what happened and what to check", async () => {
    const { origin: url } = await rawServer((socket) => void socket.write(SWITCH));
    await expect(
      postStream({ url, headers: {}, body: [], signal: new AbortController().signal, timeouts: LONG }),
    ).rejects.toMatchObject({
      code: "bad_response",
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ switched to another protocol .* base URL/),
    });
  });

  test("is refused every time, even on a kept-alive connection", async () => {
    const server = await rawServer((socket, nth) => void socket.write(nth % 2 === 1 ? FINE : SWITCH));
    for (let round = 0; round < 20; round += 1) {
      expect(await outcome(server.origin)).toBe("200 fine");
      expect(await outcome(server.origin)).toBe("bad_response");
    }
    await expect.poll(() => server.open.size).toBe(0);
  });

  test("counts only with status 101: a 200 that names a protocol is a normal response", async () => {
    const head = "HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: h2c\r\ncontent-length: 4\r\n\r\nfine";
    const server = await rawServer((socket) => void socket.write(head));
    expect(await outcome(server.origin)).toBe("200 fine");
  });
});

describe("a flood of 1xx", () => {
  test.each([
    ["100", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["102", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["103", HINT],
  ])("of %s delays neither the first-byte timeout nor an abort", async (_status, head) => {
    const server = await rawServer((socket) => flood(socket, head));
    expect(await outcome(server.origin, { timeouts: { firstByteMs: 60, idleMs: 3_600_000 } })).toBe(
      "timeout_first_byte",
    );
    const controller = new AbortController();
    const reason = Object.assign(new Error("stopped"), { code: "stopped_by_a_person" });
    const stopped = outcome(server.origin, { signal: controller.signal });
    await expect.poll(() => server.connections()).toBe(2);
    controller.abort(reason);
    expect(await stopped).toBe("stopped_by_a_person");
    await expect.poll(() => server.open.size).toBe(0);
  });

  test("that ends is followed by the response", async () => {
    const server = await rawServer(
      (socket) => void socket.write(`${"HTTP/1.1 103 Hints\r\n\r\n".repeat(500)}${FINE}`),
    );
    expect(await outcome(server.origin)).toBe("200 fine");
  });
});

const WHOLE = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nfine";

describe("a connection that ends inside the response", () => {
  test.each([
    ["closed", (socket: Socket, text: string) => socket.end(text)],
    ["reset", (socket: Socket, text: string) => socket.write(text, () => socket.resetAndDestroy())],
  ])("%s after any byte is a lost connection, and after the last byte a response", async (how, end) => {
    for (let length = 0; length <= WHOLE.length; length += 1) {
      const server = await rawServer((socket) => void end(socket, WHOLE.slice(0, length)));
      const whole = length === WHOLE.length;
      // A reset may overtake the bytes before it.
      const allowed = whole
        ? how === "closed"
          ? ["200 fine"]
          : ["200 fine", "connection_lost"]
        : ["connection_lost"];
      expect(allowed, `${length} bytes`).toContain(await outcome(server.origin));
    }
  });
});

describe("a head that makes no sense", () => {
  test.each([
    ["is not HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["is binary", "\u0000\u0001\u0002\u00ff\u00fe\r\n\r\n"],
    ["is TLS", "\u0015\u0003\u0003\u0000\u0002\u0002\u0028"],
    ["has a status of letters", "HTTP/1.1 OK\r\n\r\n"],
    ["has a status of one digit", "HTTP/1.1 2\r\n\r\n"],
    ["has another version", "HTTP/9.9 200 OK\r\n\r\n"],
    ["has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nfine!"],
    ["has a length of letters", "HTTP/1.1 200 OK\r\ncontent-length: four\r\n\r\nfine"],
    ["has a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -4\r\n\r\nfine"],
    [
      "has both a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n",
    ],
    [
      "has a chunk without a valid length",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nfine\r\n0\r\n\r\n",
    ],
    ["has a chunk that never ends", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\nfine"],
    ["has an unknown encoding", "HTTP/1.1 200 OK\r\ntransfer-encoding: nonsense\r\n\r\nfine"],
    [
      "is chunked twice",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n",
    ],
    ["has a name without a value", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\nfine"],
    ["has a name with a control character", "HTTP/1.1 200 OK\r\na\u0001b: c\r\n\r\nfine"],
    ["is longer than any real one", `HTTP/1.1 200 OK\r\n${"x-filler: 0123456789\r\n".repeat(5000)}\r\nfine`],
    ["has one endless name", `HTTP/1.1 200 OK\r\n${"x".repeat(200_000)}`],
  ])("because it %s ends with a status or a code", async (_what, text) => {
    for (const close of [true, false]) {
      const server = await rawServer(
        (socket) => void (close ? socket.end(text, "latin1") : socket.write(text, "latin1")),
      );
      const ended = await outcome(server.origin, { timeouts: { firstByteMs: 300, idleMs: 300 } });
      expect(ended).toMatch(/^(?:200 fine|connection_lost|timeout_first_byte|timeout_idle)$/);
      if (ended !== "200 fine") await expect.poll(() => server.open.size).toBe(0);
    }
  });
});

describe("a response before the request was read", () => {
  const LARGE = { body: [Buffer.alloc(16 * 1024 * 1024)] };

  test.each([
    ["an error", "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno", "413 no"],
    ["a switch of protocols", SWITCH, "bad_response"],
  ])(
    "that is %s ends the exchange and frees the connection, although the server never reads on",
    async (_what, text, ended) => {
      const server = await rawServer((socket) => {
        socket.pause();
        socket.write(text);
      });
      expect(await outcome(server.origin, LARGE)).toBe(ended);
      // A paused server notices the end of the connection only when it reads.
      await expect
        .poll(() => {
          for (const socket of server.open) socket.resume();
          return server.open.size;
        })
        .toBe(0);
    },
  );
});
