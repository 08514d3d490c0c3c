/** Errors as events and results carry them. */

import { codeOf, messageOf } from "../support/index.ts";

/** What kind of failure it is, which decides about the next request: failures.md §5. */
export type ErrorClass =
  | "PAIR"
  | "ID"
  | "GONE"
  | "CRYPT"
  | "PREFIX"
  | "UNSIGNED"
  | "TOOLPAIR"
  | "SCHEMA"
  | "ECHO"
  | "LIMIT"
  | "RATE"
  | "THINK"
  | "PREFILL"
  | "CAP"
  | "FATAL"
  | "TRUNC"
  | "OTHER";

export interface ErrorInfo {
  readonly code: string;
  readonly message: string;
  readonly class?: ErrorClass | undefined;
  readonly param?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Converts a thrown value. Only our own code throws; errors of providers and tools are recorded as received. */
export function errorInfoOf(error: unknown): ErrorInfo {
  return { code: codeOf(error) ?? "internal", message: messageOf(error) };
}
