import { describe, expect, test } from "vitest";

import { type ErrorClass } from "../../base/events/index.ts";
import { ThroughlineError } from "../../base/support/index.ts";
import { classify, connectionError, httpError, streamError } from "./errors.ts";

type Row = readonly [text: string, code: string | null, status: number];

/** The classifier table, row by row: what the APIs were seen to answer. */
const TABLE: Readonly<Record<Exclude<ErrorClass, "TRUNC" | "OTHER">, readonly Row[]>> = {
  PAIR: [
    ["Item 'rs_1' of type 'reasoning' was provided without its required following item.", null, 400],
    [
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      null,
      400,
    ],
  ],
  ID: [
    [
      "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got a string with length 416 instead.",
      "string_above_max_length",
      400,
    ],
    ["Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.", "invalid_id_prefix", 400],
    ["Duplicate item found with id rs_1. Remove duplicate items from your input and try again.", null, 400],
    [
      "Invalid 'input[6].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
      "invalid_value",
      400,
    ],
  ],
  GONE: [
    ["Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", null, 404],
    [
      "Item with id 'fc_1' not found. Items are not persisted for Zero Data Retention organizations.",
      null,
      404,
    ],
    ["Previous response with id 'resp_1' not found.", "previous_response_not_found", 400],
    [
      "Previous response cannot be used for this organization due to Zero Data Retention.",
      "unsupported_parameter",
      400,
    ],
  ],
  CRYPT: [
    ["The encrypted content gAAA...DQ== could not be verified.", "invalid_encrypted_content", 400],
    ["anything", "invalid_encrypted_content", 400],
    ["Could not decrypt the provided encrypted_content.", null, 400],
    ["Could not decode the compaction blob. Ensure it is unmodified from the compact response.", null, 400],
    ["reasoning `encrypted_content` was not issued to this caller", null, 400],
    ["encrypted reasoning was created for a different account or model", null, 400],
    ["messages.1.content.0: Invalid `signature` in `thinking` block", null, 400],
    ["Corrupted thought signature", null, 400],
    ["Function call is missing a thought_signature in functionCall parts.", null, 400],
  ],
  PREFIX: [["The block is bound to a different conversation. Remove the block", null, 400]],
  TOOLPAIR: [
    ["No tool output found for function call call_1.", null, 400],
    ["No tool call found for function call output with call_id call_1.", null, 400],
    [
      "messages.33: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
      null,
      400,
    ],
  ],
  SCHEMA: [
    ["Unknown parameter: 'input[3].status'.", "unknown_parameter", 400],
    ["Missing required parameter: 'input[1].summary'.", "missing_required_parameter", 400],
    ["Invalid 'input[2].content': array too long.", "array_above_max_length", 400],
    ["Invalid value: 'none'. Supported values are: 'concise', 'detailed', and 'auto'.", "invalid_value", 400],
    ["no", "unsupported_parameter", 400],
    ["Extra inputs are not permitted", "extra_forbidden", 422],
    ["property 'reasoning_content' is unsupported", null, 400],
  ],
  ECHO: [
    [
      "The `reasoning_content` in the thinking mode must be passed back to the API.",
      "invalid_request_error",
      400,
    ],
    [
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 32",
      null,
      400,
    ],
  ],
  LIMIT: [
    ["Your input exceeds the context window of this model.", "context_length_exceeded", 400],
    ["too many", "max_output_tokens", 400],
    ["This model's maximum context length is 8192 tokens.", null, 400],
    [
      "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
      null,
      400,
    ],
  ],
  RATE: [
    ["Rate limit reached", "rate_limit_exceeded", 429],
    ["Slow down", "slow_down", 429],
    ["Our servers are currently overloaded.", "server_is_overloaded", 503],
    ["Overloaded", "overloaded_error", 529],
    ["no code at all", null, 429],
  ],
  THINK: [
    [
      "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
      null,
      400,
    ],
    ["Expected `thinking` or `redacted_thinking`, but found `tool_use`.", null, 400],
    ["messages.1: The final block in an assistant message cannot be `thinking`.", null, 400],
    [
      "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
      null,
      400,
    ],
  ],
  PREFILL: [
    [
      "This model does not support assistant message prefill. The conversation must end with a user message.",
      null,
      400,
    ],
  ],
  CAP: [
    ["Reasoning input items can only be provided to a reasoning or computer use model.", null, 400],
    ["Unsupported parameter: 'temperature' is not supported with this model.", null, 400],
    [
      "Unsupported parameter: 'reasoning.generate_summary' is not supported with the 'o3-mini' model.",
      "unsupported_parameter",
      400,
    ],
    ["Encrypted content is not supported with this model.", null, 400],
  ],
  FATAL: [
    ["You exceeded your current quota", "insufficient_quota", 429],
    ["The usage limit has been reached", "usage_limit_reached", 429],
    ["Incorrect API key provided", "invalid_api_key", 401],
    ["no", null, 401],
    ["no", null, 403],
    ["no", "cyber_policy", 400],
    ["no", "bio_policy", 400],
    ["no", "misalignment_policy_violation", 400],
    ["no", "invalid_prompt", 400],
    ["The requested model 'x' does not exist.", "model_not_found", 400],
  ],
};

describe.each(Object.entries(TABLE))("%s", (expected, rows) => {
  test.each(rows)("in an HTTP error: %s (%s)", (message, code, status) => {
    const body = JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code } });
    expect(httpError(status, body, {})).toMatchObject({ class: expected, status, message });
  });

  test.each(rows.filter(([, code, status]) => code !== null || status === 400 || status === 404))(
    "in a stream, nested, flat and as the error of a response: %s (%s)",
    (message, code) => {
      const error = { message, param: null, ...(code === null ? {} : { code }) };
      for (const shape of [{ type: "error", error }, { type: "error", ...error }, error]) {
        expect(streamError(shape)).toMatchObject({ class: expected, message });
      }
    },
  );
});

describe("TRUNC", () => {
  test.each(["connection_lost", "connect_refused", "timeout_first_byte", "timeout_idle"])(
    "is a connection error %s",
    (code) => {
      const error = new ThroughlineError({ code, message: "gone" });
      expect(connectionError(error)).toEqual({ code, message: "gone", class: "TRUNC" });
    },
  );

  test.each([408, 409, 500, 502, 503, 504, 599])("is status %i without a code that is known", (status) => {
    expect(httpError(status, "", {}).class).toBe("TRUNC");
  });

  test.each(["server_error", "stream_error", "bad_event", "stream_cut"])("is the code %s", (code) => {
    expect(classify({ code, message: "x" }).class).toBe("TRUNC");
  });

  test("is an error event that says nothing", () => {
    expect(streamError({ type: "error" })).toMatchObject({ class: "TRUNC" });
    expect(streamError(undefined)).toEqual({
      code: "stream_error",
      message: "the provider reported an error",
      class: "TRUNC",
    });
  });
});

describe("OTHER", () => {
  test.each([400, 404, 409.5, 422])(
    "is an unknown code with status %i: judged by its class, not guessed",
    (status) => {
      const body = JSON.stringify({ error: { code: "brand_new", message: "?" } });
      expect(httpError(status, body, {}).class).toBe("OTHER");
    },
  );

  test.each(["dns_failed", "tls_failed", "stream_limit", "bad_response"])(
    "is a connection error that waiting does not mend: %s",
    (code) => {
      expect(connectionError(new ThroughlineError({ code, message: "x" })).class).toBe("OTHER");
    },
  );
});

const routed = (raw: unknown): string =>
  JSON.stringify({
    error: { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "X" } },
  });

describe("what the body of an HTTP error may be", () => {
  test("the API's own shape", () => {
    const body = JSON.stringify({ error: { message: "no", type: "t", param: "input[1].id", code: "c" } });
    expect(httpError(400, body, { "x-request-id": "req_1" })).toEqual({
      code: "c",
      message: "no",
      class: "ID",
      param: "input[1].id",
      status: 400,
      requestId: "req_1",
    });
  });

  test("without a code the type stands for it, and a number is a text", () => {
    expect(httpError(400, '{"error":{"message":"no","type":"some_type","code":null}}', {}).code).toBe(
      "some_type",
    );
    expect(httpError(400, '{"error":{"message":"no","code":400}}', {}).code).toBe("400");
    expect(httpError(400, '{"error":{"message":"no","code":""}}', {}).code).toBe("http_400");
  });

  test("an error that is a text (xAI)", () => {
    const body = '{"code":"invalid-argument","error":"Could not decrypt the provided encrypted_content."}';
    expect(httpError(400, body, {})).toMatchObject({ code: "invalid-argument", class: "CRYPT" });
  });

  test("what a router passes on: the provider's own words count, as its body or as text", () => {
    const own = {
      error: { message: "Your input exceeds the context window.", code: "context_length_exceeded" },
    };
    for (const raw of [JSON.stringify(own), own]) {
      expect(httpError(400, routed(raw), {})).toMatchObject({
        class: "LIMIT",
        code: "context_length_exceeded",
        message: "Your input exceeds the context window.",
      });
    }
    expect(httpError(429, routed("busy upstream, retry shortly"), {})).toMatchObject({
      class: "RATE",
      message: "busy upstream, retry shortly",
    });
    expect(httpError(400, routed(null), {})).toMatchObject({ message: "Provider returned error" });
  });

  test("a web page", () => {
    expect(httpError(502, "<!DOCTYPE html><h1>Bad Gateway</h1>", {})).toMatchObject({
      code: "not_an_api",
      class: "TRUNC",
      message: expect.stringContaining("is the base URL right?"),
    });
    expect(httpError(404, "\n<html></html>", {})).toMatchObject({ code: "not_an_api", class: "OTHER" });
  });

  test("plain text, cut short, or nothing", () => {
    expect(httpError(400, `oops ${"x".repeat(500)}`, {}).message).toHaveLength("status 400: ".length + 505);
    expect(httpError(400, "", {}).message).toBe("status 400: no body");
  });

  test("a message of any length is bounded", () => {
    const body = JSON.stringify({ error: { message: "x".repeat(100_000), code: "c" } });
    expect(httpError(400, body, {}).message).toHaveLength(64 * 1024);
  });
});

const wait = (headers: Record<string, string>, message = "slow"): number | undefined =>
  httpError(429, JSON.stringify({ error: { message, code: "rate_limit_exceeded" } }), headers).retryAfterMs;

describe("how long to wait", () => {
  test.each([
    [{ "retry-after-ms": "1500" }, 1500],
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "20", "retry-after": "7" }, 20],
    [{ "retry-after-ms": "-5", "retry-after": "7" }, 7000],
    [{ "retry-after": "Sun, 15 Nov 2026 10:00:30 GMT", date: "Sun, 15 Nov 2026 10:00:00 GMT" }, 30_000],
    [{ "retry-after": "Sun, 15 Nov 2026 09:00:00 GMT", date: "Sun, 15 Nov 2026 10:00:00 GMT" }, undefined],
    [{ "retry-after": "Sun, 15 Nov 2026 10:00:30 GMT" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "86400" }, 120_000],
    [{ "retry-after-ms": "99999999" }, 120_000],
    [{}, undefined],
  ])("%j means %s ms", (headers, expected) => {
    expect(wait(headers as Record<string, string>)).toBe(expected);
  });

  test.each([
    ["Please try again in 11.054s. Visit …", 11_054],
    ["try again in 20ms", 20],
    ["Try again in 3 seconds", 3000],
    ["try again in 1 second.", 1000],
    ["try again in 86400s", 120_000],
    ["try again later", undefined],
  ])("the text %j means %s ms", (message, expected) => {
    expect(wait({}, message)).toBe(expected);
    expect(streamError({ code: "rate_limit_exceeded", message }).retryAfterMs).toBe(expected);
  });

  test("a header counts more than the text", () => {
    expect(wait({ "retry-after": "2" }, "try again in 9s")).toBe(2000);
  });
});
