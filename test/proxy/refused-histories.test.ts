import { gzipSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { objectOf } from "../../src/base/support/index.ts";
import { type Header, valuesOf } from "./support/http-bytes.ts";
import {
  BROKEN,
  bytesOf,
  expected,
  OF_HISTORY,
  type Refusal,
  through,
  thought,
  call,
  output,
} from "./support/refusals.ts";
import { ask, JSON_TYPE, openProxy, requestTo, SSE_TYPE, startUpstream } from "./support/wire.ts";

/** One fault of each kind, so that every rung has something to change. */
const FAULTY = [
  { role: "user", content: "a" },
  { ...thought, status: "completed" },
  call,
  output,
  { ...call, call_id: "call_open", id: "fc_2" },
  { ...call, call_id: "call_other", id: "fc_2" },
  { ...output, call_id: "call_other" },
];

describe("a history that stays refused", () => {
  const cases = Object.entries(OF_HISTORY).flatMap(([path, bodies]) =>
    bodies.map((body) => [path, body] as const),
  );

  test.for(cases)(
    "%s: the client gets the first refusal, after at most three further attempts: %s",
    async ([path, body]) => {
      // Each attempt is told apart by its status words, its headers and its body.
      const refusal = (nth: number): Refusal => ({
        status: `400 Bad Request ${nth}`,
        headers: [JSON_TYPE, ["X-Attempt", String(nth)], ["set-cookie", "a=1"], ["set-cookie", "b=2"]],
        body: body.replace("{", `{"attempt":${nth},`),
      });
      const { upstream, got } = await through(
        (socket, _request, nth) => socket.write(bytesOf(refusal(nth))),
        path,
      );
      expect(got).toEqual(expected(refusal(0)));
      expect(upstream.requests.length).toBeLessThanOrEqual(4);
      const bodies = upstream.requests.map((request) => request.body.toString());
      expect(bodies[0]).toBe(BROKEN[path]);
      // Each rung changes the body, and no parameter but the thinking switch.
      expect(new Set(bodies).size).toBe(bodies.length);
      const heads = bodies.map((text) => ({
        ...objectOf(JSON.parse(text)),
        input: 0,
        messages: 0,
        thinking: 0,
      }));
      expect(heads).toEqual(heads.map(() => heads[0]));
      for (const { headers } of upstream.requests)
        expect(valuesOf(headers, "content-type")).toEqual(["application/json"]);
    },
  );

  test("a healer finds something to try for most of them", async () => {
    const attempts = await Promise.all(
      cases.map(
        async ([path, body]) =>
          (await through(bytesOf({ status: "400 Bad Request", body }), path)).upstream.requests.length,
      ),
    );
    expect(attempts.filter((count) => count > 1).length).toBeGreaterThanOrEqual(5);
  });

  const [crypt = ""] = OF_HISTORY["/v1/responses"] ?? [];

  test("a provider that finds something else each time is asked four times in all", async () => {
    const [, , open = "", field = "", twice = ""] = OF_HISTORY["/v1/responses"] ?? [];
    const refusals = [twice, field, open, crypt];
    const { upstream, got } = await through(
      (socket, _request, nth) =>
        socket.write(bytesOf({ status: "400 Bad Request", body: refusals[nth] ?? open })),
      "/v1/responses",
      JSON.stringify({ model: "m", store: false, input: FAULTY }),
    );
    expect(upstream.requests).toHaveLength(4);
    expect(got).toEqual(expected({ status: "400 Bad Request", body: twice }));
  });

  test("three faults of three kinds are healed, whichever is named last", async () => {
    const [, , open = "", field = "", twice = ""] = OF_HISTORY["/v1/responses"] ?? [];
    const faults: readonly (readonly [refusal: string, isThere: (body: string) => boolean])[] = [
      [open, (body) => !/"call_id":"call_open","output"/.test(body)],
      [twice, (body) => body.split('"fc_2"').length > 2],
      [field, (body) => body.includes('"status"')],
    ];
    const orders = [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
    ];
    for (const order of orders) {
      const { upstream, got } = await through(
        (socket, { body }) => {
          const found = order.map((at) => faults[at]).find((fault) => fault?.[1](body.toString()));
          const refusal = { status: "400 Bad Request", body: found?.[0] ?? "" };
          socket.write(bytesOf(found === undefined ? { status: "200 OK", body: "{}" } : refusal));
        },
        "/v1/responses",
        JSON.stringify({ model: "m", store: false, input: FAULTY }),
      );
      expect([order, upstream.requests.length, got]).toEqual([
        order,
        4,
        expected({ status: "200 OK", body: "{}" }),
      ]);
    }
  });

  test("a compressed refusal is read, and reaches the client compressed", async () => {
    const headers: readonly Header[] = [JSON_TYPE, ["Content-Encoding", "gzip"]];
    const refusal = { status: "400 Bad Request", headers, body: gzipSync(crypt) };
    const { upstream, got } = await through(bytesOf(refusal), "/v1/responses");
    expect(got).toEqual(expected(refusal));
    expect(upstream.requests.length).toBeGreaterThan(1);
  });

  test.for(["429 Too Many Requests", "500 Internal Server Error", "529 Overloaded", "401 Unauthorized"])(
    "%s on a further attempt ends the ladder and is passed on",
    async (status) => {
      const last = { status, headers: [["retry-after", "3"]] as const, body: "later" };
      const { upstream, got } = await through(
        (socket, _request, nth) =>
          socket.write(bytesOf(nth === 0 ? { status: "400 Bad Request", body: crypt } : last)),
        "/v1/responses",
      );
      expect([upstream.requests.length, got]).toEqual([2, expected(last)]);
    },
  );

  test("a connection that breaks on a further attempt leaves the first refusal", async () => {
    const refusal = { status: "400 Bad Request", body: crypt };
    const { upstream, got } = await through((socket, _request, nth) => {
      if (nth === 0) socket.write(bytesOf(refusal));
      else socket.destroy();
    }, "/v1/responses");
    expect(upstream.requests.length).toBeGreaterThan(1);
    expect(got).toEqual(expected(refusal));
  });

  test("a refusal in a stream stays the first one", async () => {
    const failed = `event: error\ndata: {"type":"error","sequence_number":0,${crypt.slice(1)}\n\n`;
    const stream: Refusal = { status: "200 OK", headers: [SSE_TYPE], body: failed };
    const { upstream, got } = await through(
      (socket, _request, nth) =>
        socket.write(bytesOf(nth === 0 ? stream : { status: "400 Bad Request", body: crypt })),
      "/v1/responses",
      (BROKEN["/v1/responses"] ?? "").replace("{", '{"stream":true,'),
    );
    expect(upstream.requests.length).toBeGreaterThan(1);
    expect(got).toEqual(expected(stream));
  });

  test("nothing is healed in a proxy that observes", async () => {
    const upstream = await startUpstream(bytesOf({ status: "400 Bad Request", body: crypt }));
    const proxy = await openProxy({ to: upstream.origin, mode: "observe" });
    const body = BROKEN["/v1/responses"] ?? "";
    await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body }));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body]);
  });
});
