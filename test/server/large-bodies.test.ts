/** Bodies over the limit, and bodies of refused requests: the sender gets the reason, however it sends. */

import { type Socket } from "node:net";

import { describe, expect, test } from "vitest";

import type { ServerLimits } from "../../src/access/server/index.ts";
import { type Answer, codeIn, rawSocket, served, type Served } from "./server-fixture.ts";

const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(MIB, "x");

interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** The path and headers that get it refused. */
  readonly asks: (parts: Served) => { readonly path: string; readonly headers: readonly string[] };
}

const bearer = ({ server }: Served): string => `authorization: Bearer ${server.token}`;
const REFUSALS: readonly Refusal[] = [
  {
    name: "a body over the limit",
    status: 413,
    code: "body_too_large",
    asks: (parts) => ({ path: "/api/sessions", headers: [bearer(parts)] }),
  },
  {
    name: "a body for a session that does not exist",
    status: 404,
    code: "session_not_found",
    asks: (parts) => ({ path: "/api/sessions/none/turns", headers: [bearer(parts)] }),
  },
  {
    name: "a body without a token",
    status: 401,
    code: "unauthorized",
    asks: () => ({ path: "/api/sessions", headers: [] }),
  },
  {
    name: "a body from another page",
    status: 403,
    code: "origin_refused",
    asks: (parts) => ({ path: "/api/sessions", headers: [bearer(parts), "origin: http://example.com"] }),
  },
  {
    name: "a login over its limit",
    status: 413,
    code: "body_too_large",
    asks: () => ({ path: "/api/login", headers: [] }),
  },
];

function headOf(parts: Served, refusal: Refusal, ...more: readonly string[]): string {
  const { path, headers } = refusal.asks(parts);
  const host = `host: 127.0.0.1:${parts.server.port}`;
  const lines = [`POST ${path} HTTP/1.1`, host, "content-type: application/json", ...headers, ...more];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Resolves when the system has accepted the bytes; rejects with the sender's error if they cannot be sent. */
function send(socket: Socket, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error instanceof Error ? reject(error) : resolve()));
  });
}

/** Everything that arrived until the server closed its half. */
function toTheEnd(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const [line = "", ...lines] = head.split("\r\n");
      const headers = Object.fromEntries(lines.map((one) => one.toLowerCase().split(": ", 2)));
      resolve({ status: Number(line.split(" ")[1]), headers, text: rest.join("\r\n\r\n") });
    });
  });
}

function pieces(): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > 12) controller.close();
      else controller.enqueue(PIECE);
    },
  });
}

describe.each(REFUSALS)("$name", (refusal) => {
  const expectRefusal = (answer: Answer): void => {
    expect([answer.status, codeIn(answer)]).toEqual([refusal.status, refusal.code]);
  };

  test("is answered while it is being sent, and a sender that reads only at its end gets the answer", async () => {
    const parts = await served();
    const socket = await rawSocket(parts.server);
    const answered = toTheEnd(socket);
    const told = new Promise<void>((resolve) => void socket.once("data", () => resolve()));
    await send(socket, headOf(parts, refusal, `content-length: ${12 * MIB}`));
    await send(socket, PIECE);
    await told;
    for (let n = 1; n < 12; n += 1) await send(socket, PIECE);
    const answer = await answered;
    expectRefusal(answer);
    expect(answer.headers["connection"]).toBe("close");
  });

  test("in chunks is answered in the same way", async () => {
    const parts = await served();
    const socket = await rawSocket(parts.server);
    const answered = toTheEnd(socket);
    await send(socket, headOf(parts, refusal, "transfer-encoding: chunked"));
    for (let n = 0; n < 12; n += 1) {
      await send(socket, `${MIB.toString(16)}\r\n`);
      await send(socket, PIECE);
      await send(socket, "\r\n");
    }
    await send(socket, "0\r\n\r\n");
    expectRefusal(await answered);
  });

  test("is not cut off when its sender is slower than the answer", async () => {
    const parts = await served();
    const socket = await rawSocket(parts.server);
    const answered = toTheEnd(socket);
    await send(socket, headOf(parts, refusal, `content-length: ${12 * MIB}`));
    for (let n = 0; n < 12; n += 1) {
      await send(socket, PIECE);
      await new Promise((resolve) => setTimeout(resolve, 80)); // a slow line; the test needs its pace
    }
    expectRefusal(await answered);
  });

  test("is refused before it is sent if its sender asks first with Expect", async () => {
    const parts = await served();
    const socket = await rawSocket(parts.server);
    let text = "";
    const told = new Promise<void>((resolve) => {
      socket.on("data", (chunk) => {
        text += String(chunk);
        if (text.includes("}}")) resolve();
      });
    });
    await send(socket, headOf(parts, refusal, `content-length: ${12 * MIB}`, "expect: 100-continue"));
    await told;
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${refusal.status} `));
    expect(text).toContain(`"${refusal.code}"`);
  });

  test("sent by fetch is answered, from one buffer and from a stream", async () => {
    const parts = await served();
    const { path, headers } = refusal.asks(parts);
    const ask = async (body: Uint8Array | ReadableStream<Uint8Array>): Promise<unknown> => {
      const response = await fetch(`${parts.server.url}${path}`, {
        method: "POST",
        headers: [
          ["content-type", "application/json"],
          ...headers.map((line) => line.split(": ", 2) as [string, string]),
        ],
        body,
        ...({ duplex: "half" } as object),
      });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    expect(await ask(Buffer.alloc(12 * MIB, "x"))).toEqual([refusal.status, refusal.code]);
    expect(await ask(pieces())).toEqual([refusal.status, refusal.code]);
  });
});

test("our own client reports which limit was exceeded", async () => {
  const parts = await served();
  const session = await parts.remote.open({ id: "s1" });
  await expect(session.send("x".repeat(11 * MIB)).result()).rejects.toMatchObject({ code: "body_too_large" });
  expect((await session.send("Hello").result()).status).toBe("completed");
});

test("a sender that asks first with Expect gets 100 Continue when its body is wanted", async () => {
  const parts = await served();
  const socket = await rawSocket(parts.server);
  const body = '{"id":"s1"}';
  const first = new Promise<string>((resolve) => void socket.once("data", (data) => resolve(String(data))));
  const host = `127.0.0.1:${parts.server.port}`;
  await send(
    socket,
    `POST /api/sessions HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${bearer(parts)}\r\nconnection: close\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  expect(await first).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  const answered = toTheEnd(socket);
  await send(socket, body);
  expect((await answered).status).toBe(201);
});

test("a body that never ends is discarded up to a limit of bytes and time, and its sender is not kept forever", async () => {
  const limits: Partial<ServerLimits> = { lingerBytes: 4 * MIB, lingerMs: 500, requestMs: 600_000 };
  const parts = await served({ server: { limits } });
  const socket = await rawSocket(parts.server);
  socket.on("error", () => undefined);
  const answered = new Promise<string>(
    (resolve) => void socket.once("data", (data) => resolve(String(data))),
  );
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  socket.write(headOf(parts, REFUSALS[0] as Refusal, `content-length: ${1024 * MIB}`));
  const more = (): void => void (!socket.destroyed && socket.write(PIECE, more));
  more();
  expect(await answered).toMatch(/^HTTP\/1.1 413 /);
  await closed;
});
