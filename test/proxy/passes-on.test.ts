import { gzipSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { objectOf } from "../../src/base/support/index.ts";
import { type Header, valuesOf, withoutOurs } from "./support/http-bytes.ts";
import {
  answerBytes,
  type Answering,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type Upstream,
} from "./support/wire.ts";

const thought = {
  type: "reasoning",
  id: "rs_68af0c11d2a94e5b",
  summary: [],
  encrypted_content: "gAAAAfirst",
};
const call = {
  type: "function_call",
  id: "fc_68af0c11d2a94e5b",
  call_id: "call_9fK2mQ7x",
  name: "f",
  arguments: "{}",
};
const output = { type: "function_call_output", call_id: "call_9fK2mQ7x", output: "1" };

/** Histories in which an eager healer finds much to change: thoughts, ids, calls without results. */
const BROKEN: Readonly<Record<string, string>> = {
  "/v1/responses": JSON.stringify({
    model: "m",
    store: false,
    max_output_tokens: 9,
    input: [
      { role: "user", content: "a" },
      thought,
      call,
      output,
      { ...call, call_id: "call_open", id: "fc_2" },
      { role: "user", content: "b" },
    ],
  }),
  "/v1/messages": JSON.stringify({
    model: "emu-claude",
    max_tokens: 3000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    messages: [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "x", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "f", input: {} },
        ],
      },
      { role: "user", content: "no result" },
    ],
  }),
  "/v1/chat/completions": JSON.stringify({
    model: "emu-deepseek",
    messages: [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "user", content: "no result" },
    ],
  }),
};
const ROUTES = Object.keys(BROKEN);

const error = (message: string, more: object = {}): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null, ...more } });

interface Refusal {
  readonly status: string;
  readonly headers?: readonly Header[];
  readonly body: string | Buffer;
}

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

const bytesOf = ({ status, headers = [JSON_TYPE], body }: Refusal): Buffer =>
  answerBytes(status, headers, body);

async function through(
  answer: Answering | Buffer,
  path: string,
  body = BROKEN[path] ?? "{}",
): Promise<{ readonly upstream: Upstream; readonly got: object }> {
  const upstream = await startUpstream(answer);
  const proxy = await openProxy({ to: upstream.origin });
  const got = await ask(proxy.port, requestTo(proxy.port, path, { headers: [JSON_TYPE], body }));
  return { upstream, got: seen(got) };
}

const seen = ({ status, words, headers, body, whole }: Awaited<ReturnType<typeof ask>>): object => ({
  status: `${status} ${words}`,
  headers: withoutOurs(headers),
  body: body.toString("latin1"),
  whole,
});

const expected = ({ status, headers = [JSON_TYPE], body }: Refusal): object => ({
  status,
  headers: [...headers, ["Content-Length", String(Buffer.from(body).length)]],
  body: Buffer.from(body).toString("latin1"),
  whole: true,
});

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

/** Refusals of a history, by route; none of them is ever satisfied. */
const OF_HISTORY: Readonly<Record<string, readonly string[]>> = {
  "/v1/responses": [
    error(
      "The encrypted content for item rs_68af0c11d2a94e5b could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      { code: "invalid_encrypted_content" },
    ),
    error(
      "Item 'rs_68af0c11d2a94e5b' of type 'reasoning' was provided without its required following item.",
      { param: "input" },
    ),
    error("No tool output found for function call call_open.", { param: "input" }),
    error("Unknown parameter: 'input[1].status'.", { code: "unknown_parameter", param: "input[1].status" }),
    error("Duplicate item found with id fc_2. Remove duplicate items from your input and try again.", {
      param: "input",
    }),
  ],
  "/v1/messages": [
    error("messages.1.content.0: Invalid `signature` in `thinking` block"),
    error("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
  ],
  "/v1/chat/completions": [
    error("The `reasoning_content` in the thinking mode must be passed back to the API."),
    error(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. call_1",
    ),
  ],
};

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

  test("nothing is healed in a proxy that observes", async () => {
    const upstream = await startUpstream(bytesOf({ status: "400 Bad Request", body: crypt }));
    const proxy = await openProxy({ to: upstream.origin, mode: "observe" });
    const body = BROKEN["/v1/responses"] ?? "";
    await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body }));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual([body]);
  });
});

describe("a client that leaves its history at the provider", () => {
  const message = {
    type: "message",
    id: "msg_68af0c11d2a94e5b",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "It is sunny in Paris.", annotations: [] }],
  };
  const stored = { type: "reasoning", id: "rs_68af0c11d2a94e5b", summary: [] };
  const response = {
    id: "resp_68af0c11d2a94e5b",
    object: "response",
    status: "completed",
    store: true,
    model: "m",
    output: [stored, message],
  };
  const user = (content: string): object => ({ role: "user", content });
  const reference = (id: string): object => ({ type: "item_reference", id });
  const NEXT: Readonly<Record<string, object>> = {
    "previous_response_id and a word": { previous_response_id: response.id, input: [user("And Rome?")] },
    "previous_response_id and a string": { previous_response_id: response.id, input: "And Rome?" },
    "previous_response_id and an output": { previous_response_id: response.id, input: [output] },
    "previous_response_id and no input": { previous_response_id: response.id },
    "a conversation": { conversation: "conv_1", input: [user("And Rome?")] },
    "a conversation as an object": { conversation: { id: "conv_1" }, input: [user("And Rome?"), output] },
    "a stored prompt": { prompt: { id: "pmpt_1" }, input: [user("And Rome?")] },
    references: { input: [user("Weather?"), reference(stored.id), reference(message.id), user("And Rome?")] },
    "a reference to the thought alone": {
      input: [user("Weather?"), reference(stored.id), message, user("And Rome?")],
    },
    "stored items with their ids": { input: [user("Weather?"), stored, message, user("And Rome?")] },
    "only references": { input: [reference(stored.id), reference(message.id)] },
  };

  test.for(Object.entries(NEXT))("%s: no byte of the request changes", async ([, next]) => {
    const upstream = await startUpstream(answerBytes("200 OK", [JSON_TYPE], JSON.stringify(response)));
    const proxy = await openProxy({ to: upstream.origin });
    const bodies = [{ input: [user("Weather?")] }, next, next].map((body) =>
      JSON.stringify({ model: "m", ...body }),
    );
    for (const body of bodies) await ask(proxy.port, requestTo(proxy.port, "/v1/responses", { body }));
    expect(upstream.requests.map((request) => request.body.toString())).toEqual(bodies);
  });

  test("a refused previous_response_id is passed on", async () => {
    const body = JSON.stringify({ model: "m", previous_response_id: "resp_gone", input: [output] });
    for (const status of ["400 Bad Request", "404 Not Found"]) {
      const refusal = {
        status,
        body: error("Previous response with id 'resp_gone' not found.", {
          code: "previous_response_not_found",
          param: "previous_response_id",
        }),
      };
      const { upstream, got } = await through(bytesOf(refusal), "/v1/responses", body);
      expect([upstream.requests.map((request) => request.body.toString()), got]).toEqual([
        [body],
        expected(refusal),
      ]);
    }
  });

  test("an output whose call is in a stored response is never taken out, whatever is refused", async () => {
    const body = JSON.stringify({ model: "m", previous_response_id: response.id, input: [output] });
    for (const text of OF_HISTORY["/v1/responses"] ?? []) {
      const { upstream } = await through(
        bytesOf({ status: "400 Bad Request", body: text }),
        "/v1/responses",
        body,
      );
      for (const request of upstream.requests)
        expect(JSON.parse(request.body.toString())).toMatchObject({
          previous_response_id: response.id,
          input: [output],
        });
    }
  });
});
