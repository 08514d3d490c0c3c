import { describe, expect, test } from "vitest";

import { oddBodies } from "./support/bodies.ts";
import { endToEnd, type Header, inChunks, messageBytes, withoutOurs } from "./support/http-bytes.ts";
import { OK, pass } from "./support/pass.ts";
import { TARGETS } from "./support/targets.ts";
import { answerBytes, ask, JSON_TYPE, openProxy, requestTo, startUpstream } from "./support/wire.ts";

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
