/** Floods and slow clients (W12, W19), with limits so small that a few sockets and milliseconds reach them. */

import { connect, type Socket } from "node:net";

import { expect, test } from "vitest";

import type { ServerLimits } from "../../src/access/server/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { ask, codeIn, rawSocket, served, type Served, servedAlone } from "./server-fixture.ts";

const limited = (limits: Partial<ServerLimits>): Promise<Served> => served({ server: { limits } });

/** Everything the socket receives until it is closed. */
async function toTheEnd(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  await new Promise<void>((resolve) => void socket.on("close", () => resolve()));
  return text;
}

const firstLine = (socket: Socket): Promise<string> =>
  new Promise(
    (resolve) => void socket.once("data", (chunk) => resolve(String(chunk).split("\r\n")[0] ?? "")),
  );

const head = ({ server }: Pick<Served, "server">, path = "/api/server"): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${server.token}\r\n`;

test("sockets that send nothing, or never finish their headers, are closed; others are served meanwhile", async () => {
  // Long enough for a well-behaved client on any machine.
  const parts = await limited({ headMs: 1500, requestMs: 3000 });
  const silent = toTheEnd(await rawSocket(parts.server));
  const dawdling = await rawSocket(parts.server);
  dawdling.write(head(parts));
  const dripping = setInterval(() => dawdling.write("x-more: 1\r\n"), 50);
  afterTest(() => clearInterval(dripping));
  const ends = Promise.all([silent, toTheEnd(dawdling)]);
  expect((await ask(parts.server, { path: "/api/server" })).status).toBe(200);
  expect(await ends).toEqual([
    expect.stringMatching(/^(?:HTTP\/1.1 408|$)/),
    expect.stringMatching(/^HTTP\/1.1 408/),
  ]);
});

test("a body that never ends is cut off, even if its headers were already refused", async () => {
  const parts = await limited({ headMs: 1000, requestMs: 1000 });
  const post = `POST /api/sessions HTTP/1.1\r\nhost: 127.0.0.1:${parts.server.port}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n`;
  const told = async (text: string): Promise<string> => {
    const socket = await rawSocket(parts.server);
    socket.write(text);
    return toTheEnd(socket);
  };
  const [body, refused] = await Promise.all([
    told(`${post}authorization: Bearer ${parts.server.token}\r\n\r\n{`),
    told(`${post}\r\n{`),
  ]);
  expect(body).toMatch(/^HTTP\/1.1 4/);
  expect(refused).toMatch(/^HTTP\/1.1 401/);
});

test("a thousand idle sockets make room for a client with a request", async () => {
  const parts = await limited({ connections: 50 });
  const session = await parts.remote.open({ id: "s1" });
  await session.send("Hello").result();
  const stream = await rawSocket(parts.server);
  stream.write(`${head(parts, "/api/sessions/s1/events")}\r\n`);
  await expect.poll(() => parts.server.counters.open).toBeGreaterThanOrEqual(1);
  const streams = parts.server.counters.open;
  for (let n = 0; n < 1000; n += 1) {
    const socket = await rawSocket(parts.server);
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nhost:");
  }
  await expect.poll(() => parts.server.connections).toBeLessThanOrEqual(50);
  expect((await ask(parts.server, { path: "/api/server" })).status).toBe(200);
  // A client in the middle of an answer is not disconnected.
  expect(parts.server.counters.open).toBe(streams);
  expect(stream.destroyed).toBe(false);
});

test("a connection stays open for the next request for longer than a person takes to think", async () => {
  const parts = await servedAlone();
  const socket = await rawSocket(parts.server);
  socket.write(`${head(parts)}\r\n`);
  const answer = await new Promise<string>(
    (resolve) => void socket.once("data", (data) => resolve(String(data))),
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 [^]*\r\nkeep-alive: timeout=60\r\n/i);
});

test("when every connection is busy, one more is closed and the others are undisturbed", async () => {
  const parts = await limited({ connections: 3 });
  await ask(parts.server, { method: "POST", path: "/api/sessions", body: '{"id":"s1"}' });
  const open = async (): Promise<Socket> => {
    const socket = await rawSocket(parts.server);
    socket.write(`${head(parts, "/api/sessions/s1/events")}\r\n`);
    return socket;
  };
  for (let n = 1; n <= 3; n += 1) {
    await open();
    await expect.poll(() => parts.server.counters.open).toBe(n);
  }
  expect(await toTheEnd(await rawSocket(parts.server))).toBe("");
  expect([parts.server.counters.open, parts.server.connections]).toEqual([3, 3]);
});

test("a flood of requests on one connection is cut off; a few in a row are answered in order", async () => {
  const parts = await limited({ pipelined: 8 });
  const few = await rawSocket(parts.server);
  few.write(`${head(parts)}\r\n`.repeat(4));
  few.write(`${head(parts)}connection: close\r\n\r\n`);
  expect((await toTheEnd(few)).match(/HTTP\/1.1 200/g)?.length).toBe(5);

  const flood = await rawSocket(parts.server);
  flood.on("error", () => undefined);
  flood.write(`${head(parts, "/api/sessions")}\r\n`.repeat(5000));
  const answered = (await toTheEnd(flood)).match(/HTTP\/1.1 200/g)?.length ?? 0;
  expect(answered).toBeLessThan(5000);
  expect((await ask(parts.server, { path: "/api/server" })).status).toBe(200);
  expect(parts.problems).toEqual([]);
});

test.each([
  ["a hundred thousand headers", () => "a: b\r\n".repeat(100_000)],
  ["one endless header", () => `a: ${"b".repeat(200_000)}\r\n`],
  ["one endless name", () => "a".repeat(200_000)],
])("a request head with %s is refused", async (_name, more) => {
  const parts = await served();
  const socket = await rawSocket(parts.server);
  socket.on("error", () => undefined);
  socket.write(`${head(parts)}${more()}\r\n\r\n`);
  // Bytes still being sent when the server closes can destroy the answer.
  expect(await toTheEnd(socket)).toMatch(/^(?:HTTP\/1.1 431|$)/);
  expect((await ask(parts.server, { path: "/api/server" })).status).toBe(200);
});

test("a request head slightly too large gets an answer that says so", async () => {
  const parts = await limited({ headBytes: 2000 });
  const socket = await rawSocket(parts.server);
  socket.write(`${head(parts)}a: ${"b".repeat(2000)}\r\n\r\n`);
  expect(await toTheEnd(socket)).toMatch(/^HTTP\/1.1 431 /);
});

test("a socket whose other half is closed is not kept", async () => {
  const parts = await servedAlone();
  const socket = await rawSocket(parts.server);
  await expect.poll(() => parts.server.connections).toBe(1);
  socket.end("GET / HT");
  expect(await toTheEnd(socket)).toMatch(/^HTTP\/1.1 400/);
  await expect.poll(() => parts.server.connections).toBe(0);

  // Nor is one that keeps its own half open after its bytes were rejected as not a request.
  const { port } = parts.server;
  const open = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  afterTest(() => void open.destroy());
  open.on("error", () => undefined).resume();
  open.write("no request\r\n\r\n");
  await new Promise<void>((resolve) => void open.on("end", () => resolve()));
  await expect.poll(() => parts.server.connections).toBe(0);
});

test("a download that the client does not read is aborted, and its connection is released", async () => {
  const parts = await servedAlone({ server: { limits: { stuckMs: 100 } } });
  const session = await parts.agent.open({ id: "s1", store: parts.store });
  for (let n = 0; n < 8; n += 1) {
    await session.send("x".repeat(1_000_000)).result();
    await session.undo(); // or each request would carry all of it again
  }
  await session.close();
  const socket = await rawSocket(parts.server);
  socket.write(`${head(parts, "/api/sessions/s1/log")}\r\n`);
  await new Promise<void>((resolve) => {
    socket.once("data", () => {
      socket.pause(); // the download has started
      resolve();
    });
  });
  await expect.poll(() => parts.server.connections).toBe(0);
});

test("a client that tries many keys is refused for that reason and reported; the right key still works", async () => {
  let now = 0;
  const parts = await served({
    server: {
      limits: { wrongKeys: 5 },
      clock: { now: () => Date.now(), monotonic: () => now, sleep: () => new Promise(() => undefined) },
    },
  });
  const { server } = parts;
  const host = `127.0.0.1:${server.port}`;
  const wrong = [
    { headers: { host, authorization: "Bearer wrong" } },
    { headers: { host, cookie: `throughline_${server.port}=wrong` } },
    { headers: { host }, path: "/login?code=wrong" },
    {
      headers: { host, "content-type": "application/json" },
      method: "POST",
      path: "/api/login",
      body: '{"code":"wrong"}',
    },
  ].map((one) => ({ path: "/api/server", bare: true, ...one }));
  const link = new URL(await server.newLink());
  const statuses: number[] = [];
  for (let n = 0; n < 8; n += 1) statuses.push((await ask(server, wrong[n % 4] ?? { path: "/" })).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  for (const form of wrong) {
    const answer = await ask(server, form);
    expect([answer.status, codeIn(answer), answer.headers["retry-after"]]).toEqual([
      429,
      "too_many_wrong_keys",
      "60",
    ]);
  }
  expect(parts.problems).toEqual([expect.stringContaining("someone is guessing keys")]);
  // A request without a key does not count as an attempt and gets instructions. The right key works.
  expect((await ask(server, { path: "/api/server", bare: true, headers: { host } })).status).toBe(401);
  expect((await ask(server, { path: "/api/server" })).status).toBe(200);
  expect((await ask(server, { path: `/login${link.search}`, bare: true, headers: { host } })).status).toBe(
    200,
  );
  now = 60_000;
  expect((await ask(server, wrong[0] ?? { path: "/" })).status).toBe(401);
});

test("an upgrade is an ordinary request: a foreign page's is refused, our own gets no socket", async () => {
  const parts = await served();
  const upgrade =
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n";
  const foreign = await rawSocket(parts.server);
  foreign.write(`${head(parts)}${upgrade}origin: http://evil.example\r\n\r\n`);
  const own = await rawSocket(parts.server);
  own.write(`${head(parts)}${upgrade}\r\n`);
  expect(await Promise.all([firstLine(foreign), firstLine(own)])).toEqual([
    "HTTP/1.1 403 Forbidden",
    expect.not.stringContaining("101"),
  ]);
});
