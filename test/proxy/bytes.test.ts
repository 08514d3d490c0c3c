import { connect } from "node:net";
import * as zlib from "node:zlib";

import { describe, expect, test } from "vitest";

import { oddBodies } from "./support/bodies.ts";
import {
  endToEnd,
  type Header,
  inChunks,
  type Message,
  messageBytes,
  valuesOf,
  withoutOurs,
} from "./support/http-bytes.ts";
import {
  answerBytes,
  ask,
  JSON_TYPE,
  openClient,
  openProxy,
  requestTo,
  startUpstream,
} from "./support/wire.ts";

/** The three that are read, and others that are piped. */
const READ = [
  "/v1/responses",
  "/v1/chat/completions",
  "/v1/messages",
  "/anthropic/v1/messages?beta=true",
] as const;
const PIPED: readonly (readonly [method: string, target: string])[] = [
  ["GET", "/v1/models?limit=1&after=a%20b"],
  ["GET", "/v1/responses/resp_1"],
  ["DELETE", "/v1/responses/resp_1"],
  ["POST", "/v1/embeddings"],
  ["POST", "/v1/messages/count_tokens"],
  ["POST", "/v1/responses/compact"],
  ["POST", "/v1/responses/"],
  ["POST", "/v1/files?purpose=batch"],
  ["PUT", "/upload/part/1"],
  ["PATCH", "/v1/things/1"],
  ["OPTIONS", "/v1/responses"],
  ["HEAD", "/v1/models"],
];
const TARGETS = [...READ.map((target) => ["POST", target] as const), ...PIPED];

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

const OK = answerBytes("200 OK", [JSON_TYPE], "{}");

/** What one request makes of an upstream that always answers the same. */
async function pass(request: (port: number) => Buffer, answer: Buffer = OK, headers?: boolean) {
  const upstream = await startUpstream(answer);
  const proxy = await openProxy({ to: upstream.origin, headers });
  const got = await ask(proxy.port, request(proxy.port));
  return { got, upstream, proxy };
}

/** The requests as the upstream saw them, without their framing. */
const seen = (requests: readonly Message[]) =>
  requests.map(({ start, headers, body }) => ({
    start,
    headers: endToEnd(headers),
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

describe("an answer reaches the client as the upstream sent it", () => {
  const answerHeaders: readonly Header[] = [
    ["Content-Type", "application/json"],
    ["Set-Cookie", "a=1; Path=/"],
    ["set-cookie", "b=2"],
    ["X-Request-ID", "req_1"],
    ["openai-organization", "org-1"],
    ["x-ratelimit-remaining", "1"],
    ["X-RateLimit-Remaining", "2"],
    ["ETag", '"x"'],
    ["x-empty", ""],
    ["Server", "odd"],
  ];
  const STATUSES = [
    "200 OK",
    "200 Fine Indeed",
    "200 ",
    "201 Created",
    "202 Accepted",
    "299 Odd",
    "418 I'm a teapot",
  ];

  test.for(TARGETS)("%s %s: status, words and headers; none added but ours", async ([method, target]) => {
    const text = method === "HEAD" ? "" : '{"ok":1 }';
    let status = "";
    const upstream = await startUpstream((socket) => socket.write(answerBytes(status, answerHeaders, text)));
    const proxy = await openProxy({ to: upstream.origin });
    const request = requestTo(proxy.port, target, { method, body: method === "POST" ? "{}" : "" });
    for (status of STATUSES) {
      const { words, headers, body, status: code } = await ask(proxy.port, request);
      expect({ status: `${code} ${words}`, headers: withoutOurs(headers), body: body.toString() }).toEqual({
        status,
        headers: [...answerHeaders, ["Content-Length", String(text.length)]],
        body: text,
      });
    }
  });

  test.for(["/v1/responses", "/v1/models"])(
    "%s: a header that is not ASCII keeps its bytes",
    async (target) => {
      const headers: readonly Header[] = [["X-Latin", "Gr\xfc\xdfe"]];
      const { got } = await pass(
        (port) => requestTo(port, target, { body: "{}" }),
        answerBytes("200 OK", headers, "{}"),
      );
      expect(withoutOurs(got.headers)).toEqual([...headers, ["Content-Length", "2"]]);
    },
  );

  test("a date and a via of the upstream stay, and no header of ours is added if none is wanted", async () => {
    const headers: readonly Header[] = [
      ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"],
      ["Via", "1.1 edge"],
      ["Age", "3"],
    ];
    for (const target of ["/v1/responses", "/v1/models"]) {
      const { got } = await pass(
        (port) => requestTo(port, target, { body: "{}" }),
        answerBytes("200 OK", headers, "{}"),
        false,
      );
      expect(endToEnd(got.headers)).toEqual([...headers, ["Content-Length", "2"]]);
    }
  });

  test("what the proxy adds tells what it did, and the number of the exchange", async () => {
    const { got } = await pass((port) => requestTo(port, "/v1/responses", { body: '{"input":"a"}' }));
    const ours = got.headers.filter(([name]) => name.startsWith("x-throughline"));
    expect(ours).toEqual([
      ["x-throughline", "passed"],
      ["x-throughline-exchange", expect.stringMatching(/^x[0-9a-z]{10,}$/)],
    ]);
  });

  test("headers of more than 16 KiB pass", async () => {
    const headers: readonly Header[] = [["Content-Security-Policy", "x".repeat(30_000)]];
    for (const target of ["/v1/responses", "/v1/models"]) {
      const { got } = await pass(
        (port) => requestTo(port, target, { body: "{}" }),
        answerBytes("200 OK", headers, "{}"),
      );
      // Compared by length: a difference of this size cannot be read.
      expect([
        got.status,
        withoutOurs(got.headers).map(([name, value]) => `${name}: ${value.length}`),
      ]).toEqual([200, ["Content-Security-Policy: 30000", "Content-Length: 1"]]);
    }
  });

  test("an answer without a body has none", async () => {
    for (const target of ["/v1/responses", "/v1/models"])
      for (const status of ["204 No Content", "304 Not Modified"]) {
        const bytes = messageBytes(`HTTP/1.1 ${status}`, [["x-a", "1"]]);
        const { got } = await pass((port) => requestTo(port, target, { body: "{}" }), bytes);
        expect([got.status, got.whole, withoutOurs(got.headers), got.body.length]).toEqual([
          Number(status.slice(0, 3)),
          true,
          [["x-a", "1"]],
          0,
        ]);
      }
  });

  test.for(["/v1/responses", "/v1/messages", "/v1/files"])(
    "%s: whatever its body is, and however it is framed",
    async (target) => {
      let answer = OK;
      const upstream = await startUpstream((socket) => socket.write(answer));
      const proxy = await openProxy({ to: upstream.origin });
      const request = requestTo(proxy.port, target, { body: '{"model":"m","input":"a","messages":[]}' });
      const differing: string[] = [];
      for (const { name, bytes, coding } of oddBodies("input")) {
        const headers: readonly Header[] =
          coding === undefined ? [JSON_TYPE] : [JSON_TYPE, ["Content-Encoding", coding]];
        const chunks = inChunks(bytes, Math.max(1, Math.ceil(bytes.length / 5)));
        const framings = {
          "by length": answerBytes("200 OK", headers, bytes),
          "in chunks": answerBytes("200 OK", [...headers, ["Transfer-Encoding", "chunked"]], chunks),
        };
        for (const [how, framed] of Object.entries(framings)) {
          answer = framed;
          const got = await ask(proxy.port, request);
          if (!got.whole || !got.body.equals(bytes))
            differing.push(`${name}, ${how}: ${got.status}, ${got.body.length} of ${bytes.length} bytes`);
        }
      }
      expect(differing).toEqual([]);
    },
  );

  test("an answer that ends with its connection ends well", async () => {
    for (const target of ["/v1/responses", "/v1/models"]) {
      const upstream = await startUpstream((socket) => socket.end("HTTP/1.1 200 OK\r\nx-a: 1\r\n\r\nhello"));
      const proxy = await openProxy({ to: upstream.origin });
      const got = await ask(proxy.port, requestTo(proxy.port, target, { body: '{"input":"a"}' }));
      expect([got.status, got.whole, got.body.toString()]).toEqual([200, true, "hello"]);
    }
  });
});
