import { createHash } from "node:crypto";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from "node:zlib";

import { beforeAll, describe, expect, test } from "vitest";

import { type Header, inChunks, withoutOurs } from "./support/http-bytes.ts";
import { ownStreams, type Recorded, recordedStreams } from "./support/streams.ts";
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

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** As a server compresses a stream: everything that was said so far can be read. */
async function flushedGzip(bytes: Buffer): Promise<Buffer> {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  for (const event of bytes.toString("latin1").split(/(?<=\n\n)/)) {
    gzip.write(Buffer.from(event, "latin1"));
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
  }
  await new Promise<void>((resolve) => gzip.once("end", resolve).end());
  return Buffer.concat(chunks);
}

const CODINGS: readonly (readonly [
  name: string,
  coding: string | undefined,
  make: (bytes: Buffer) => Buffer | Promise<Buffer>,
])[] = [
  ["as it is", undefined, (bytes) => bytes],
  ["gzip", "gzip", gzipSync],
  ["gzip, flushed after each event", "gzip", flushedGzip],
  ["br", "br", brotliCompressSync],
  ["deflate", "deflate", deflateSync],
];

/** Sizes of the pieces; 0 is the whole. */
const SPLITS = [1, 7, 1000, 0];

interface Case {
  readonly name: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly headers: readonly Header[];
  readonly framed: Buffer;
}

async function casesOf(
  { name, path, bytes }: Recorded,
  type: Header,
  splits: readonly number[],
): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for (const [how, coding, make] of CODINGS) {
    const encoded = await make(bytes);
    const headers: readonly Header[] = [
      type,
      ...(coding === undefined ? [] : ([["Content-Encoding", coding]] as const)),
    ];
    for (const split of splits) {
      const body = inChunks(encoded, split === 0 ? encoded.length : split);
      const framed = answerBytes("200 OK", [...headers, ["Transfer-Encoding", "chunked"]], body);
      cases.push({ name: `${name}, ${how}, in pieces of ${split}`, path, bytes: encoded, headers, framed });
    }
  }
  return cases;
}

/** The cases whose bytes differ at the client. */
async function differing(cases: readonly Case[]): Promise<readonly string[]> {
  let answer: Buffer = Buffer.alloc(0);
  const upstream = await startUpstream((socket) => socket.write(answer));
  const proxy = await openProxy({ to: upstream.origin });
  const found: string[] = [];
  for (const { name, path, bytes, headers, framed } of cases) {
    answer = framed;
    const body = '{"model":"m","stream":true,"input":"a","messages":[{"role":"user","content":"a"}]}';
    const got = await ask(proxy.port, requestTo(proxy.port, path, { headers: [JSON_TYPE], body }));
    const isEqual =
      got.whole &&
      sha(got.body) === sha(bytes) &&
      JSON.stringify(withoutOurs(got.headers)) === JSON.stringify(headers);
    if (!isEqual)
      found.push(`${name}: ${got.whole ? "whole" : "cut"}, ${got.body.length} of ${bytes.length} bytes`);
  }
  return found;
}

describe("a stream reaches the client byte for byte, however it is cut and coded", () => {
  let own: readonly Recorded[] = [];
  beforeAll(async () => {
    own = await ownStreams();
  });

  test("our own streams of the three dialects", async () => {
    const cases = (await Promise.all(own.map((one) => casesOf(one, SSE_TYPE, SPLITS)))).flat();
    expect(cases).toHaveLength(6 * CODINGS.length * SPLITS.length);
    expect(await differing(cases)).toEqual([]);
  });

  test("streams that a reader may stumble over", async () => {
    const [first] = own;
    const text = first?.bytes.toString("utf8") ?? "";
    const odd: Readonly<Record<string, Buffer>> = {
      "CRLF line ends": Buffer.from(text.replaceAll("\n", "\r\n")),
      "CR line ends": Buffer.from(text.replaceAll("\n", "\r")),
      "a byte order mark": Buffer.from(`\ufeff${text}`),
      comments: Buffer.from(text.replaceAll("\n\n", "\n\n: ping\n\nretry: 5\n\n")),
      "no last line end": Buffer.from(text.trimEnd()),
      "half a stream": Buffer.from(text.slice(0, text.length / 2)),
      "two streams": Buffer.from(text + text),
      "broken JSON": Buffer.from(text.replaceAll('"type":', '"type"')),
      "no events": Buffer.from("<html>not what you asked for</html>"),
      "invalid UTF-8": Buffer.concat([
        Buffer.from('data: {"a":"'),
        Buffer.from([0xff, 0xc3, 0xed]),
        Buffer.from('"}\n\n'),
        Buffer.from(text),
      ]),
      "an event without an end": Buffer.from(`data: ${"x".repeat(300_000)}`),
      "numbers and names where objects belong": Buffer.from(
        'data: 1\n\ndata: null\n\ndata: [DONE]\n\ndata: "x"\n\nevent: response.completed\ndata: {"response":[]}\n\n',
      ),
      "a deep event": Buffer.from(`data: ${"[".repeat(100_000)}${"]".repeat(100_000)}\n\n${text}`),
      nothing: Buffer.alloc(0),
    };
    const streams = Object.entries(odd).flatMap(([name, bytes]) =>
      ["/v1/responses", "/v1/messages", "/v1/chat/completions"].map((path) => ({
        name: `${name} at ${path}`,
        path,
        bytes,
      })),
    );
    const cases = (await Promise.all(streams.map((one) => casesOf(one, SSE_TYPE, [997])))).flat();
    expect(await differing(cases)).toEqual([]);
  });

  test("a stream that does not say so, and a plain answer that says it were one", async () => {
    const whole = await ownStreams(false);
    const wrong = await Promise.all([
      ...own.map((one) => casesOf(one, ["content-type", "application/json"], [7, 0])),
      ...own.map((one) => casesOf(one, ["content-type", ""], [0])),
      ...whole.map((one) => casesOf(one, ["content-type", "application/json"], [1, 0])),
      ...whole.map((one) => casesOf(one, SSE_TYPE, [7, 0])),
    ]);
    expect(await differing(wrong.flat())).toEqual([]);
  });

  const recorded = recordedStreams();
  test.skipIf(recorded.length === 0)("all recorded streams", async () => {
    const cases = (await Promise.all(recorded.map((one) => casesOf(one, SSE_TYPE, [1, 7, 1460, 0])))).flat();
    expect(await differing(cases)).toEqual([]);
  });

  test("an event reaches the client as soon as it comes, and none waits for the next", async () => {
    for (const { name, path, bytes } of own) {
      const events = bytes.toString("utf8").split(/(?<=\n\n)/);
      const upstream = await startUpstream((socket) => {
        socket.write(answerBytes("200 OK", [SSE_TYPE, ["Transfer-Encoding", "chunked"]]));
      });
      const proxy = await openProxy({ to: upstream.origin });
      const body = '{"model":"m","stream":true,"input":"a","messages":[{"role":"user","content":"a"}]}';
      const client = openClient(proxy.port, requestTo(proxy.port, path, { body }));
      await upstream.request(0);
      let sent = 0;
      for (const event of events) {
        upstream.sockets[0]?.write(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
        sent += Buffer.byteLength(event);
        expect([name, (await client.body(sent)).length]).toEqual([name, sent]);
      }
    }
  });
});
