import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { brotliCompressSync, constants } from "node:zlib";

import { expect, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import { startChildProxy } from "./support/child-plan.ts";
import { type Header, inChunks, valuesOf } from "./support/http-bytes.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  SSE_TYPE,
  startUpstream,
} from "./support/wire.ts";

const MIB = 1024 * 1024;
const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const OK = answerBytes("200 OK", [JSON_TYPE], "{}");

/** Peak memory of a process in MiB. Only Linux tells it. */
function peakOf(pid: number): number {
  const [, kib = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
const onLinux = process.platform === "linux";

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function* blocks(count: number): Generator<Buffer> {
  const block = Buffer.alloc(64 * 1024, "throughline ");
  for (let at = 0; at < count; at += 1) yield block;
}

const json = (size: number): Buffer =>
  Buffer.from(`{"model":"m","input":[{"role":"user","content":"${"x".repeat(size)}"}]}`);

test.for(["/v1/responses", "/v1/chat/completions", "/v1/messages"])(
  "%s: a body of 40 MiB is forwarded unread, once",
  async (target) => {
    const upstream = await startUpstream(OK);
    const proxy = await openProxy({ to: upstream.origin });
    const body = json(40 * MIB);
    const chunked: readonly Header[] = [["Transfer-Encoding", "chunked"]];
    const requests = [
      requestTo(proxy.port, target, { body }),
      requestTo(proxy.port, target, { headers: chunked, body: inChunks(body, MIB) }),
    ];
    for (const request of requests) expect((await ask(proxy.port, request)).status).toBe(200);
    expect(upstream.requests.map((one) => sha(one.body))).toEqual([sha(body), sha(body)]);
    expect(valuesOf(upstream.requests[0]?.headers ?? [], "content-length")).toEqual([String(body.length)]);
  },
);

test("an exchange whose body was too large says that it was not read, and how it was answered", async () => {
  const upstream = await startUpstream(OK);
  const lines: object[] = [];
  const proxy = await openProxy({
    to: upstream.origin,
    onExchange: ({ outcome, status }) => lines.push({ outcome, status }),
  });
  await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body: json(33 * MIB) }));
  expect(lines).toEqual([{ outcome: "unread", status: 200 }]);
});

test.skipIf(!onLinux)(
  "an upload and a download of 1 GiB on a piped route need at most 16 MiB more than one of 64 MiB",
  async () => {
    let received = 0;
    const origin = await listening(
      createServer((request, response) => {
        request.on("data", (chunk: Buffer) => (received += chunk.length));
        request.on("end", () => Readable.from(blocks(Number(request.headers["x-blocks"]))).pipe(response));
      }),
    );
    const child = await startChildProxy({ options: { to: origin } });
    const send = async (up: number, down: number): Promise<number> => {
      let got = 0;
      const sent = httpRequest({
        port: child.port,
        method: "POST",
        path: "/v1/files",
        headers: { "x-blocks": down },
      });
      const answered = new Promise<void>((resolve, reject) => {
        sent.on("error", reject);
        sent.on("response", (response) => {
          response
            .on("data", (chunk: Buffer) => (got += chunk.length))
            .on("end", resolve)
            .on("error", reject);
        });
      });
      await pipeline(Readable.from(blocks(up)), sent);
      await answered;
      return got;
    };
    await send(1024, 1024); // warm
    const before = peakOf(child.pid);
    received = 0;
    expect(await send(16, 16 * 1024)).toBe(1024 * MIB);
    expect(await send(16 * 1024, 16)).toBe(MIB);
    expect(received).toBe(1025 * MIB);
    expect(peakOf(child.pid) - before).toBeLessThan(16);
  },
);

test.skipIf(!onLinux)("an answer that the client does not read yet waits at the upstream", async () => {
  let sent = 0;
  const origin = await listening(
    createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const events = Readable.from(blocks(8 * 1024)).on("data", () => (sent += 1));
      void pipeline(events, response).catch(() => undefined);
    }),
  );
  const child = await startChildProxy({ options: { to: origin } });
  const before = peakOf(child.pid);
  const client = openClient(
    child.port,
    requestTo(child.port, "/v1/responses", { body: '{"model":"m","stream":true,"input":"a"}' }),
  );
  await client.body(1);
  client.socket.pause();
  // The upstream has filled every buffer on the way when its own count stops.
  for (let last = -1; last !== sent;) {
    last = sent;
    await ask(child.port, requestTo(child.port, "/__throughline/health", { method: "GET" }));
  }
  expect(sent).toBeLessThan(8 * 1024);
  expect(peakOf(child.pid) - before).toBeLessThan(64);
  client.socket.destroy();
});

test("a client that reads slowly costs no listeners", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on("warning", note);
  afterTest(() => process.off("warning", note));
  const body = Buffer.alloc(32 * MIB, `: ${"x".repeat(1000)}\n\n`);
  const upstream = await startUpstream(answerBytes("200 OK", [SSE_TYPE], body));
  const proxy = await openProxy({ to: upstream.origin });
  const got = await ask(
    proxy.port,
    requestTo(proxy.port, "/v1/responses", { body: '{"model":"m","input":"a"}' }),
  );
  expect(sha(got.body)).toBe(sha(body));
  await new Promise((resolve) => setImmediate(resolve)); // warnings are told on the next turn
  expect(warnings).toEqual([]);
});

test.skipIf(!onLinux)(
  "bodies that are read at the same time are held up to 256 MiB in all, and the others piped",
  async () => {
    const upstream = await startUpstream(OK);
    const child = await startChildProxy({ options: { to: upstream.origin } });
    const body = json(30 * MIB);
    const request = requestTo(child.port, "/v1/responses", { body });
    const clients = Array.from({ length: 14 }, () => openClient(child.port, request.subarray(0, -1)));
    await Promise.all(
      clients.map(
        ({ socket }) =>
          new Promise<void>((resolve) =>
            socket.writableLength === 0 ? resolve() : socket.once("drain", resolve),
          ),
      ),
    );
    for (const { socket } of clients) socket.write("}");
    const answers = await Promise.all(clients.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual(clients.map(() => 200));
    expect(upstream.requests.map((one) => one.body.equals(body))).toEqual(clients.map(() => true));
    // A request that was read is marked.
    const piped = answers.filter(({ headers }) => valuesOf(headers, "x-throughline").length === 0);
    expect(piped.length).toBeGreaterThan(0);
  },
);

test.skipIf(!onLinux)(
  "a compressed answer that grows beyond measure is passed on, and not unpacked in memory",
  async () => {
    const bomb = brotliCompressSync(Buffer.alloc(600 * MIB), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    const answer = answerBytes("200 OK", [JSON_TYPE, ["Content-Encoding", "br"]], bomb);
    const upstream = await startUpstream(answer);
    const child = await startChildProxy({ options: { to: upstream.origin } });
    const before = peakOf(child.pid);
    const got = await ask(
      child.port,
      requestTo(child.port, "/v1/responses", { body: '{"model":"m","input":"a"}' }),
    );
    expect([got.status, sha(got.body)]).toEqual([200, sha(bomb)]);
    expect(peakOf(child.pid) - before).toBeLessThan(200);
  },
);

test("the head of a piped request goes on before its body comes", async () => {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const origin = await listening(
    createServer({ headersTimeout: 5000, connectionsCheckingInterval: 500 }, (request, response) => {
      response.writeHead(413, { "content-type": "application/json" });
      response.end('{"error":"too large"}');
      request.pipe(sink, { end: false });
    }),
  );
  const proxy = await openProxy({ to: origin });
  const body = Buffer.alloc(MIB);
  const head = requestTo(proxy.port, "/v1/files", { headers: [["Content-Length", String(body.length)]] });
  const client = openClient(proxy.port, head);
  const got = await client.answer;
  expect([got.status, got.body.toString()]).toEqual([413, '{"error":"too large"}']);
});
