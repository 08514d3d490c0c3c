/** Reads HTTP, in-stream and connection errors into one shape and classifies them (error-table.ts). */

import type { ErrorInfo } from "../../base/events/index.ts";
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
import { classOf, type Evidence } from "./error-table.ts";

/**
 * Far more than is kept. The recorder shortens the message only after redacting secrets: cutting first could split a
 * secret in two.
 */
const MAX_MESSAGE = 64 * 1024;

/** Reads the body of an HTTP error in any form: the API's shape, a string (xAI), HTML or nothing. */
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
      ? `the server returned a web page (status ${status}); check the base URL`
      : `status ${status}: ${body.trim() || "no body"}`);
  const info = classify({
    status,
    code: shape.code ?? (html ? "not_an_api" : `http_${status}`),
    message,
    param: shape.param,
  });
  const requestId = headers["x-request-id"] ?? headers["request-id"];
  const retryAfterMs = retryAfter(headers) ?? shape.retryAfterMs ?? info.retryAfterMs;
  return {
    ...info,
    status,
    requestId,
    retryAfterMs,
  };
}

/** Reads the `error` of a stream event or a failed response, flat or nested (failures.md R06). */
export function streamError(value: unknown): ErrorInfo {
  const shape = errorShape(value);
  const info = classify({
    code: shape.code ?? "stream_error",
    message: shape.message ?? "the provider reported an error",
    param: shape.param,
  });
  return shape.retryAfterMs === undefined ? info : { ...info, retryAfterMs: shape.retryAfterMs };
}

/**
 * Classifies an error that ended an exchange. Errors of the connection have codes. Any other is a mistake in a program (in a
 * function that the user gave, in a bundle, or here), so it is reported as such and not retried.
 */
export function connectionError(error: unknown): ErrorInfo {
  return classify({ code: codeOf(error) ?? "internal", message: messageOf(error) });
}

export function classify(evidence: Evidence): ErrorInfo {
  const { status, message } = evidence;
  const code = OUTPUT_LIMIT.test(message) ? "max_output_tokens" : evidence.code;
  const delay = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s|seconds?)/i.exec(message);
  return {
    code,
    message: message.slice(0, MAX_MESSAGE),
    class: classOf({ ...evidence, code }),
    ...param(evidence.param),
    ...(status === undefined ? {} : { status }),
    ...(delay === null ? {} : { retryAfterMs: delayIn(delay) }),
  };
}

/** The provider sends no code for this error (failures.md R03). */
const OUTPUT_LIMIT = /max_tokens or model output limit was reached/;

interface ErrorShape {
  readonly code?: string;
  readonly message?: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

function errorShape(given: unknown): ErrorShape {
  const value = Array.isArray(given) ? given.find(isObject) : given; // Google returns a list of one (manthanabc/paws#103)
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
  const google = googleStatus(source);
  if (google !== undefined) return { ...google, ...(message === undefined ? {} : { message }) };
  return {
    // The type of a flat error event is just "error", which says nothing: treated like any other outage.
    ...codeField(source["code"] ?? (source["type"] === "error" ? undefined : source["type"])),
    ...(message === undefined ? {} : { message }),
    ...(where === undefined ? {} : { param: where }),
  };
}

/** Google: `{code: 429, status: "RESOURCE_EXHAUSTED", details: […]}`; `code` repeats the HTTP status. */
function googleStatus(source: JsonObject): ErrorShape | undefined {
  const status = stringOf(source["status"]);
  if (status === undefined || typeof source["code"] !== "number") return undefined;
  const details = arrayOf(source["details"]).map(objectOf);
  const quotas = details.flatMap(({ violations }) =>
    arrayOf(violations).map((one) => stringOf(objectOf(one)["quotaId"])),
  );
  const reason = details.map((one) => stringOf(one["reason"])).find((one) => one === "API_KEY_INVALID");
  const perDay = quotas.some((quota) => quota?.includes("PerDay") === true); // waiting does not help until tomorrow
  const delay = details.map((one) => secondsIn(one["retryDelay"])).find((one) => one !== undefined);
  return {
    code: perDay ? "quota_per_day" : (reason ?? status),
    ...(delay === undefined || perDay ? {} : { retryAfterMs: delay }),
  };
}

/** `"34.07s"` */
function secondsIn(value: unknown): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(s)$/.exec(stringOf(value) ?? "");
  return found === null ? undefined : delayIn(found);
}

/**
 * A router says "Provider returned error" and puts the provider's own error in `metadata.raw`, as text or as a whole
 * body.
 */
function routedError(source: JsonObject): ErrorShape | undefined {
  const raw = objectOf(source["metadata"])["raw"];
  if (raw === undefined || raw === null || raw === "") return undefined;
  const shape = errorShape(typeof raw === "string" ? tryParseJson(raw) : raw);
  if (shape.message !== undefined) return { ...codeField(source["code"]), ...shape };
  return typeof raw === "string" ? { ...codeField(source["code"]), message: raw } : undefined;
}

/**
 * Mistral and others on the same framework send `detail: [{type, msg, loc}]`, at the top or under `message`
 * (failures.md V04).
 */
function pydanticDetail(value: JsonObject): ErrorShape | undefined {
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
