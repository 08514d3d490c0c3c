import { connect } from "node:net";
import * as zlib from "node:zlib";

import { describe, expect, test } from "vitest";

import { oddBodies } from "./support/bodies.ts";
import { endToEnd, type Header, inChunks, type Message, valuesOf } from "./support/http-bytes.ts";
import { OK, pass } from "./support/pass.ts";
import { READ, TARGETS } from "./support/targets.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  startUpstream,
} from "./support/wire.ts";

const HEADERS: readonly Header[] = [
  ["X-Stainless-Lang", "js"],
  ["aUTHORIZATION", "Bearer sk-test"],
  ["anthropic-beta", "interleaved-thinking-2025-05-14"],
  ["Anthropic-Beta", "context-1m-2025-08-07,fine-grained-tool-streaming-2025-05-14"],
  ["cookie", "a=1"],
  ["Cookie", "b=2"],
  ["x-empty", ""],
  ["X-Tab", "a\tb"],
  ["X-Latin", "Gr\xfc\xdfe"],
  ["X-Long", "x".repeat(20_000)],
  ["Forwarded", "for=1.2.3.4"],
  ["X-Forwarded-For", "1.2.3.4"],
  ["Via", "1.1 other"],
  ["User-Agent", "Odd/1.0 (a; b)"],
  ["Accept", "*/*"],
  ["Accept-Encoding", "gzip;q=1.0, br , deflate"],
  ["x-unknown", "1"],
  ["x-unknown", "1"],
  ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"],
];

/** The requests as the upstream saw them, without their framing. */
const seen = (requests: readonly Message[]) =>
  requests.map(({ start, headers, body }) => ({
    start,
    // A request without a body may say so.
    headers: endToEnd(headers).filter(
      ([name, value]) => name.toLowerCase() !== "content-length" || value !== "0",
    ),
    body: body.toString("latin1"),
  }));
describe("a request arrives as it was sent", () => {
  test.for(TARGETS)(
    "%s %s: its line, and its headers in order, case and number",
    async ([method, target]) => {
      const body = method === "POST" || method === "PUT" ? '{ "model":"m", "input":[], "messages":[] }' : "";
      const { upstream } = await pass((port) => requestTo(port, target, { method, headers: HEADERS, body }));
      const length: readonly Header[] = body === "" ? [] : [["Content-Length", String(body.length)]];
      expect(seen(upstream.requests)).toEqual([
        { start: `${method} ${target} HTTP/1.1`, headers: [...HEADERS, ...length], body },
      ]);
    },
  );

  test.for(["POST", "DELETE", "PUT"])("%s without a body gets none", async (method) => {
    const { upstream } = await pass((port) => requestTo(port, "/v1/files", { method }));
    const [request] = upstream.requests;
    expect(request?.body).toEqual(Buffer.alloc(0));
    expect(valuesOf(request?.headers ?? [], "transfer-encoding")).toEqual([]);
  });

  test("headers of the connection and of the proxy do not go on", async () => {
    const own: readonly Header[] = [
      ["Connection", "keep-alive, X-Secret-Hop"],
      ["X-Secret-Hop", "1"],
      ["Keep-Alive", "timeout=1"],
      ["Proxy-Connection", "keep-alive"],
      ["Proxy-Authorization", "Basic abc"],
      ["TE", "trailers"],
      ["X-Throughline-Mode", "observe"],
      ["X-Throughline-Token", "t"],
    ];
    for (const target of ["/v1/responses", "/v1/embeddings"]) {
      const { upstream } = await pass((port) =>
        requestTo(port, target, { headers: [...own, ["X-Kept", "1"]], body: "{}" }),
      );
      expect(endToEnd(upstream.requests[0]?.headers ?? [])).toEqual([
        ["X-Kept", "1"],
        ["Content-Length", "2"],
      ]);
      expect(valuesOf(upstream.requests[0]?.headers ?? [], "host")).toEqual([upstream.origin.slice(7)]);
    }
  });

  test("accepted codings are narrowed to what can be decoded, never widened", async () => {
    const hasZstd = "zstdDecompressSync" in zlib; // Node 22.15
    const cases = [
      ["gzip, deflate, br", "gzip, deflate, br"],
      ["br;q=1.0, gzip;q=0.5", "br;q=1.0, gzip;q=0.5"],
      ["gzip, dcb, br", "gzip, br"],
      ["dcb, dcz", "identity"],
      ["identity", "identity"],
      ...(hasZstd ? [] : [["gzip, zstd", "gzip"] as const, ["zstd", "identity"] as const]),
    ] as const;
    for (const [sent, arrived] of cases) {
      const headers: readonly Header[] = [["Accept-Encoding", sent]];
      const { upstream } = await pass((port) => requestTo(port, "/v1/messages", { headers, body: "{}" }));
      expect(valuesOf(upstream.requests[0]?.headers ?? [], "accept-encoding")).toEqual([arrived]);
    }
    const { upstream } = await pass((port) => requestTo(port, "/v1/messages", { body: "{}" }));
    expect(valuesOf(upstream.requests[0]?.headers ?? [], "accept-encoding")).toEqual([]);
  });

  test.for(READ.slice(0, 3))("%s: whatever its body is, in one piece or in chunks", async (target) => {
    const upstream = await startUpstream(OK);
    const proxy = await openProxy({ to: upstream.origin });
    const list = target.includes("responses") ? "input" : "messages";
    const differing: string[] = [];
    for (const { name, bytes, coding } of oddBodies(list)) {
      const headers: readonly Header[] =
        coding === undefined ? [JSON_TYPE] : [JSON_TYPE, ["Content-Encoding", coding]];
      const whole = requestTo(proxy.port, target, { headers, body: bytes });
      const chunked: readonly Header[] = [...headers, ["Transfer-Encoding", "chunked"]];
      const size = Math.max(1, Math.ceil(bytes.length / 7));
      const parts = requestTo(proxy.port, target, { headers: chunked, body: inChunks(bytes, size) });
      for (const [how, request] of [
        ["whole", whole],
        ["in chunks", parts],
      ] as const) {
        const before = upstream.requests.length;
        const { status } = await ask(proxy.port, request);
        const arrived = upstream.requests.slice(before);
        const isEqual =
          status === 200 &&
          arrived.length === 1 &&
          arrived[0]?.body.equals(bytes) === true &&
          valuesOf(arrived[0].headers, "content-encoding").join() === (coding ?? "");
        if (!isEqual) differing.push(`${name}, ${how}: ${status}, ${arrived.length} arrived`);
      }
    }
    expect(differing).toEqual([]);
  });

  test("a client that waits for 100-continue gets it, and its body arrives", async () => {
    for (const target of ["/v1/responses", "/v1/files"]) {
      const upstream = await startUpstream(OK);
      const proxy = await openProxy({ to: upstream.origin });
      const body = '{"model":"m","input":"hi"}';
      const head = requestTo(proxy.port, target, {
        headers: [
          ["Expect", "100-continue"],
          ["Content-Length", String(body.length)],
        ],
      });
      const client = openClient(proxy.port, head);
      client.socket.once("data", () => client.socket.write(body));
      const answer = await client.answer;
      expect(answer).toMatchObject({ status: 200, before: [100] });
      expect(upstream.requests.map((request) => request.body.toString())).toEqual([body]);
    }
  });

  test("requests that a client sends ahead on one connection are answered in their order", async () => {
    const upstream = await startUpstream((socket, { body }) =>
      socket.write(answerBytes("200 OK", [JSON_TYPE], body)),
    );
    const proxy = await openProxy({ to: upstream.origin });
    const bodies = ['{"input":"1"}', '{"input":"2"}', '{"input":"3"}'];
    const last: readonly Header[] = [["Connection", "close"]];
    const all = bodies.map((body, at) =>
      requestTo(proxy.port, "/v1/responses", { body, headers: at === 2 ? last : [] }),
    );
    const socket = connect({ host: "127.0.0.1", port: proxy.port });
    socket.write(Buffer.concat(all));
    const text = (await socket.toArray()).join("");
    expect(text.match(/\{"input":"\d"\}/g)).toEqual(bodies);
  });
});
