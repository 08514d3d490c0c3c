/** The Responses API's HTTP errors, for the faults. */

import { refuse, type ApiRefusal } from "../api-refusal.ts";
import type { Fault } from "../faults/fault.ts";

/** The API's usual message for a status or code. */
export const faultMessages: Readonly<Record<string, string>> = {
  rate_limit_exceeded:
    "Rate limit reached for this model in organization org-emulator on tokens per min (TPM): Limit 30000, Used 30000, Requested 1200. Please try again in 2.4s. Visit https://platform.openai.com/account/rate-limits to learn more.",
  insufficient_quota:
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
  server_error:
    "The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if you keep seeing this error.",
  server_is_overloaded: "Our servers are currently overloaded. Please try again later.",
  context_length_exceeded:
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
};

const defaultCodes: Readonly<Record<number, { readonly code: string | null; readonly type: string }>> = {
  401: { code: "invalid_api_key", type: "invalid_request_error" },
  403: { code: null, type: "permission_error" },
  404: { code: null, type: "invalid_request_error" },
  408: { code: null, type: "timeout_error" },
  409: { code: null, type: "conflict_error" },
  429: { code: "rate_limit_exceeded", type: "tokens" },
  500: { code: "server_error", type: "server_error" },
  502: { code: null, type: "server_error" },
  503: { code: "server_is_overloaded", type: "service_unavailable_error" },
  504: { code: null, type: "server_error" },
};

export function refusalOfFault(fault: Extract<Fault, { type: "http" }>): ApiRefusal {
  const usual = defaultCodes[fault.status] ?? { code: null, type: "server_error" };
  const code = fault.code ?? usual.code;
  return refuse({
    rule: "X-fault",
    status: fault.status,
    message:
      fault.message ?? (code === null ? undefined : faultMessages[code]) ?? `Emulated HTTP ${fault.status}.`,
    type: code === "insufficient_quota" ? code : usual.type,
    code,
  });
}
