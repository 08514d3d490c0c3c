/**
 * The error classifier: HTTP, in-stream and connection errors alike (failures.md §5). Code first, then text.
 *
 * @module
 */

import type { ErrorClass, ErrorInfo } from "../../base/events/index.ts";
import {
  arrayOf,
  codeOf,
  isObject,
  type JsonObject,
  messageOf,
  numberOf,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../base/support/index.ts";

interface Evidence {
  readonly status?: number;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
}

/** Far more than is kept: the recorder shortens it, after it has taken out secrets that a cut could have halved. */
const MAX_MESSAGE = 64 * 1024;

/** The body of an HTTP error, whatever it is: the API's shape, a string (xAI), HTML, nothing. */
export function httpError(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): ErrorInfo {
  const parsed = tryParseJson(body);
  const shape = errorShape(parsed);
  const html = /^\s*<(?:!doctype|html)/i.test(body);
  const message =
    shape.message ??
    (html
      ? `the server answered with a web page (status ${status}): is the base URL right?`
      : `status ${status}: ${body.trim() || "no body"}`);
  const info = classify({
    status,
    code: shape.code ?? (html ? "not_an_api" : `http_${status}`),
    message,
    ...param(shape.param),
  });
  const requestId = headers["x-request-id"] ?? headers["request-id"];
  const retryAfterMs = retryAfter(headers) ?? info.retryAfterMs;
  return {
    ...info,
    status,
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The `error` of a stream event or of a failed response; flat or nested (failures.md R06). */
export function streamError(value: unknown): ErrorInfo {
  const shape = errorShape(value);
  return classify({
    code: shape.code ?? "stream_error",
    message: shape.message ?? "the provider reported an error",
    ...param(shape.param),
  });
}

/** What our own wire layer threw. */
export function connectionError(error: unknown): ErrorInfo {
  return classify({ code: codeOf(error) ?? "connection_lost", message: messageOf(error) });
}

export function classify(evidence: Evidence): ErrorInfo {
  const { status, message } = evidence;
  const code = OUTPUT_LIMIT.test(message) ? "max_output_tokens" : evidence.code;
  const errorClass = CLASSES.find(([, test]) => test({ ...evidence, code }))?.[0] ?? classOfStatus(status);
  const delay = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s|seconds?)/i.exec(message);
  return {
    code,
    message: message.slice(0, MAX_MESSAGE),
    class: errorClass,
    ...param(evidence.param),
    ...(status === undefined ? {} : { status }),
    ...(delay === null ? {} : { retryAfterMs: delayIn(delay) }),
  };
}

/** Has no code of its own (failures.md R03). */
const OUTPUT_LIMIT = /max_tokens or model output limit was reached/;

type Test = (evidence: Evidence) => boolean;

const text =
  (pattern: RegExp): Test =>
  ({ message }) =>
    pattern.test(message);
const codeIn =
  (...known: readonly string[]): Test =>
  (evidence) =>
    known.includes(evidence.code);
const either =
  (...tests: readonly Test[]): Test =>
  (evidence) =>
    tests.some((test) => test(evidence));
const idParam: Test = ({ param: where, message }) =>
  (where ?? "").endsWith(".id") || /'input\[\d+\]\.id'/.test(message);

/** In order: the first that matches names the class. */
const CLASSES: readonly (readonly [ErrorClass, Test])[] = [
  [
    "FATAL",
    either(
      codeIn(
        "insufficient_quota",
        "usage_limit_reached",
        "usage_not_included",
        "invalid_api_key",
        "bio_policy",
        "cyber_policy",
        "misalignment_policy_violation",
        "invalid_prompt",
        "api_key_missing",
        "model_not_found",
        "authentication_error",
        "permission_error",
        "billing_error",
      ),
      ({ status }) => status === 401 || status === 402 || status === 403,
    ),
  ],
  [
    "CRYPT",
    either(
      codeIn("invalid_encrypted_content"),
      text(
        /could not be verified|Could not decrypt|Could not decode the compaction blob|not issued to this caller|different account or model|Invalid `signature`|thought.signature/i,
      ),
    ),
  ],
  ["PREFIX", text(/bound to a different conversation/)],
  ["PAIR", text(/without its required/)],
  [
    "TOOLPAIR",
    text(
      /No tool output found|No tool call found|`tool_use` ids were found without|unexpected `tool_use_id`|must be followed by tool messages|must be a response to a prece/,
    ),
  ],
  [
    "GONE",
    either(
      codeIn("previous_response_not_found"),
      text(/not persisted when|not persisted for|Zero Data Retention/),
    ),
  ],
  ["ID", either(codeIn("invalid_id_prefix"), text(/Duplicate item found/), idParam)],
  ["ECHO", text(/passed back to the API|is missing in assistant tool call message/)],
  [
    "CAP",
    text(
      /can only be provided to a reasoning|not supported with this model|not supported with the|Encrypted content is not supported/,
    ),
  ],
  [
    "LIMIT",
    either(
      codeIn("context_length_exceeded", "max_output_tokens", "request_too_large"),
      text(/context window|maximum context length|prompt is too long/i),
    ),
  ],
  [
    "THINK",
    text(
      /cannot be modified|Expected `thinking`|final block .* cannot be `thinking`|When thinking is disabled/,
    ),
  ],
  ["PREFILL", text(/assistant message prefill|must end with a user message/)],
  [
    "RATE",
    either(
      codeIn(
        "rate_limit_exceeded",
        "rate_limit_error",
        "slow_down",
        "server_is_overloaded",
        "overloaded_error",
      ),
      ({ status }) => status === 429 || status === 529,
    ),
  ],
  [
    "SCHEMA",
    either(
      codeIn(
        "unknown_parameter",
        "missing_required_parameter",
        "array_above_max_length",
        "invalid_value",
        "unsupported_parameter",
        "extra_forbidden",
        "unsupported_value",
      ),
      text(
        /is unsupported|field is not allowed|Extra inputs are not permitted|Unknown parameter|Unsupported parameter/,
      ),
    ),
  ],
  [
    "TRUNC",
    codeIn(
      "stream_cut",
      "connection_lost",
      "connect_refused",
      "timeout_connect",
      "timeout_first_byte",
      "timeout_idle",
      "stream_error",
      "server_error",
      "api_error",
      "timeout_error",
      "bad_event",
    ),
  ],
];

/** An unknown code is judged by its HTTP class, never guessed at (failures.md S11). */
function classOfStatus(status: number | undefined): ErrorClass {
  if (status === undefined) return "OTHER";
  if (status === 408 || status === 409 || status >= 500) return "TRUNC";
  return "OTHER";
}

function errorShape(value: unknown): {
  readonly code?: string;
  readonly message?: string;
  readonly param?: string;
} {
  if (!isObject(value)) return {};
  const inner = value["error"];
  const detail = pydanticDetail(value);
  if (detail !== undefined) return detail;
  if (typeof inner === "string") return { message: inner, ...codeField(value["code"]) }; // xAI (failures.md E10)
  const source = isObject(inner) ? inner : value;
  const upstream = routedError(source);
  if (upstream !== undefined) return upstream;
  const message = stringOf(source["message"]);
  const where = stringOf(source["param"]);
  return {
    // The type of a flat error event is "error", which says nothing: it is then an outage like any other.
    ...codeField(source["code"] ?? (source["type"] === "error" ? undefined : source["type"])),
    ...(message === undefined ? {} : { message }),
    ...(where === undefined ? {} : { param: where }),
  };
}

/** A router says "Provider returned error" and keeps what the provider said in `metadata.raw`: text, or its whole body. */
function routedError(source: JsonObject): ReturnType<typeof errorShape> | undefined {
  const raw = objectOf(source["metadata"])["raw"];
  if (raw === undefined || raw === null || raw === "") return undefined;
  const shape = errorShape(typeof raw === "string" ? tryParseJson(raw) : raw);
  if (shape.message !== undefined) return { ...codeField(source["code"]), ...shape };
  return typeof raw === "string" ? { ...codeField(source["code"]), message: raw } : undefined;
}

/** Mistral and others on the same framework: `detail: [{type, msg, loc}]`, at the top or under `message` (failures.md V04). */
function pydanticDetail(
  value: JsonObject,
): { readonly code?: string; readonly message: string; readonly param: string } | undefined {
  const list = arrayOf(value["detail"] ?? objectOf(value["message"])["detail"]);
  const first = list.find(isObject);
  if (first === undefined) return undefined;
  const where = arrayOf(first["loc"])
    .filter((part) => part !== "body" && part !== "assistant" && part !== "user" && part !== "tool")
    .join(".");
  return {
    ...codeField(first["type"]),
    message: `${where}: ${stringOf(first["msg"]) ?? "refused"}`,
    param: where,
  };
}

function codeField(value: unknown): { readonly code?: string } {
  if (typeof value === "string" && value !== "") return { code: value };
  return typeof value === "number" ? { code: String(value) } : {};
}

function param(value: string | undefined): { readonly param?: string } {
  return value === undefined || value === "" ? {} : { param: value };
}

const MAX_RETRY_AFTER_MS = 120_000;

function delayIn([, amount, unit]: RegExpExecArray): number {
  return Math.min(Math.ceil(Number(amount) * (unit === "ms" ? 1 : 1000)), MAX_RETRY_AFTER_MS);
}

function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const milliseconds = numberOf(Number(headers["retry-after-ms"] ?? Number.NaN));
  if (milliseconds !== undefined && milliseconds >= 0) return Math.min(milliseconds, MAX_RETRY_AFTER_MS);
  const seconds = numberOf(Number(headers["retry-after"] ?? Number.NaN));
  if (seconds !== undefined && seconds >= 0) return Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
  const date = Date.parse(headers["retry-after"] ?? "");
  const now = Date.parse(headers["date"] ?? "");
  return date > now ? Math.min(date - now, MAX_RETRY_AFTER_MS) : undefined;
}
