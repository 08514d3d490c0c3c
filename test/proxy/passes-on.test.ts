import { describe, expect, test } from "vitest";

import { type Header } from "./support/http-bytes.ts";
import { BROKEN, bytesOf, error, expected, type Refusal, ROUTES, through } from "./support/refusals.ts";
import { ask, JSON_TYPE, openProxy, requestTo, startUpstream } from "./support/wire.ts";

const html =
  "<!DOCTYPE html><html><body>403 Item 'rs_1' of type 'reasoning' was provided without its required following item.</body></html>";
const NOT_OURS: Readonly<Record<string, Refusal>> = {
  "a wrong key": {
    status: "401 Unauthorized",
    body: error("Incorrect API key provided: sk-a. You can find…", { code: "invalid_api_key" }),
  },
  "no permission": {
    status: "403 Forbidden",
    body: error("You have insufficient permissions for this operation."),
  },
  "a rate limit": {
    status: "429 Too Many Requests",
    headers: [
      ["Retry-After", "17"],
      ["x-ratelimit-reset-tokens", "6m0s"],
    ],
    body: error("Rate limit reached", { code: "rate_limit_exceeded" }),
  },
  "no money": {
    status: "429 Too Many Requests",
    body: error("You exceeded your current quota", { code: "insufficient_quota" }),
  },
  "a failure": {
    status: "500 Internal Server Error",
    body: error("The server had an error", { type: "server_error" }),
  },
  "a bad gateway": {
    status: "502 Bad Gateway",
    headers: [["Content-Type", "text/html"]],
    body: "<html>cloudflare</html>",
  },
  "no service": { status: "503 Service Unavailable", headers: [["retry-after-ms", "20"]], body: "" },
  "too much to do": {
    status: "529 ",
    body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  },
  "a long context": {
    status: "400 Bad Request",
    body: error("Your input exceeds the context window of this model.", { code: "context_length_exceeded" }),
  },
  "a long prompt": {
    status: "400 Bad Request",
    body: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213000 tokens > 200000 maximum"}}',
  },
  "a parameter": {
    status: "400 Bad Request",
    body: error("Unsupported parameter: 'temperature' is not supported with this model.", {
      param: "temperature",
      code: "unsupported_parameter",
    }),
  },
  "an unknown model": {
    status: "404 Not Found",
    body: error("The model `m` does not exist", { code: "model_not_found" }),
  },
  "an unknown previous response": {
    status: "400 Bad Request",
    body: error("Previous response with id 'resp_1' not found.", {
      code: "previous_response_not_found",
      param: "previous_response_id",
    }),
  },
  "a large request": { status: "413 Payload Too Large", body: error("request_too_large") },
  "a page": { status: "400 Bad Request", headers: [["Content-Type", "text/html"]], body: html },
  "a missing page": { status: "404 Not Found", headers: [["Content-Type", "text/html"]], body: html },
  garbage: { status: "400 Bad Request", body: Buffer.from([0, 255, 1, 254, 123, 34]) },
  "half a JSON": { status: "400 Bad Request", body: '{"error":{"message":"Item ' },
  "an error that is a list": { status: "422 Unprocessable Entity", body: '[{"error":{"message":"x"}}]' },
  nothing: { status: "400 Bad Request", body: "" },
  "nothing found": { status: "404 Not Found", body: "" },
  "a redirect": {
    status: "307 Temporary Redirect",
    headers: [["Location", "https://elsewhere.example/v1/responses"]],
    body: "",
  },
  "a move": { status: "301 Moved Permanently", headers: [["Location", "/v2/responses"]], body: "moved" },
  "a teapot": { status: "418 I'm a teapot", body: "short and stout" },
  "a conflict": {
    status: "409 Conflict",
    body: error("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
  },
};

describe("what is not about the history reaches the client as it came, after one attempt", () => {
  test.for(Object.entries(NOT_OURS))("%s", async ([, refusal]) => {
    for (const path of ROUTES) {
      const { upstream, got } = await through(bytesOf(refusal), path);
      expect(got).toEqual(expected(refusal));
      expect(upstream.requests.map(({ body }) => body.toString())).toEqual([BROKEN[path]]);
    }
  });

  test("a refusal of 5 MiB", async () => {
    const refusal = { status: "400 Bad Request", body: error("x".repeat(5 * 1024 * 1024)) };
    const upstream = await startUpstream(bytesOf(refusal));
    const proxy = await openProxy({ to: upstream.origin });
    const headers: readonly Header[] = [JSON_TYPE, ["Connection", "close"]]; // so that a short body ends
    const got = await ask(
      proxy.port,
      requestTo(proxy.port, "/v1/responses", { headers, body: BROKEN["/v1/responses"] ?? "" }),
    );
    expect([got.status, got.whole, got.body.length]).toEqual([400, true, refusal.body.length]);
  });
});
