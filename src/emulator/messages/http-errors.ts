/** Errors of the Messages API that are not about the request: HTTP faults and the `error` event (C15). */

import { refuse, type ApiRefusal } from "../api-refusal.ts";
import type { Fault } from "../faults/fault.ts";
import { ERROR_TYPES } from "./vocabulary.ts";

export interface ApiError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const messages: Readonly<Record<string, string>> = {
  api_error: "Internal server error",
  authentication_error: "invalid x-api-key",
  billing_error:
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  overloaded_error: "Overloaded",
  rate_limit_error:
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please try again later.",
  request_too_large: "Request exceeds the maximum size",
};

/** Names of the Responses API that scenarios and faults may use. */
const sameAs: Readonly<Record<string, string>> = {
  server_error: "api_error",
  server_is_overloaded: "overloaded_error",
  rate_limit_exceeded: "rate_limit_error",
  insufficient_quota: "billing_error",
  invalid_api_key: "authentication_error",
};

function typeOf(status: number): string {
  return ERROR_TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

export function apiError(code: string | undefined, message: string | undefined): ApiError {
  const type = sameAs[code ?? "server_error"] ?? code ?? "api_error";
  const [status] = Object.entries(ERROR_TYPES).find(([, one]) => one === type) ?? ["500"];
  return {
    status: Number(status),
    type,
    message: message ?? messages[type] ?? `Emulated failure ${type}.`,
  };
}

export function refusalOfFault(fault: Extract<Fault, { type: "http" }>): ApiRefusal {
  const type = fault.code === undefined ? typeOf(fault.status) : apiError(fault.code, undefined).type;
  return refuse({
    rule: "X-fault",
    status: fault.status,
    message: fault.message ?? messages[type] ?? `Emulated HTTP ${fault.status}.`,
    type,
    ...(fault.status === 429 ? { headers: { "retry-after": "1" } } : {}),
  });
}

export function errorBody(refusal: ApiRefusal, requestId: string): unknown {
  // Refusals from the shared code know only a status; those of faults name their type.
  const named = Object.values(ERROR_TYPES).includes(refusal.type) && refusal.rule === "X-fault";
  const type = named ? refusal.type : typeOf(refusal.status);
  const { message, details } = refusal;
  const error = details === undefined ? { type, message } : { type, message, details };
  return { type: "error", error, request_id: requestId };
}
