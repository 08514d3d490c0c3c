/**
 * Whether a failure says that a model cannot answer at present, so that another model should: it is down, out of reach,
 * out of quota, or rate-limited. An error about the request, the key or the content is none of these: another model
 * would hide it.
 */

import type { ErrorInfo } from "../../base/events/index.ts";
import { remedyFor } from "./error-table.ts";

const QUOTA_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "usage_limit_reached",
  "usage_not_included",
  "billing_error",
  "quota_per_day",
]);

/** Claude reports it as a bad request. */
const QUOTA_WORDS = /credit balance is too low/i;

/** Ask only once the retries are used up. */
export function isOutOfService(error: ErrorInfo): boolean {
  const { status, code, message } = error;
  if (status === 401 || status === 403) return false;
  return (
    remedyFor(error).remedy === "retry" ||
    status === 402 ||
    QUOTA_CODES.has(code) ||
    QUOTA_WORDS.test(message)
  );
}
