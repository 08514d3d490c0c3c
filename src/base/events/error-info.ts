/** What went wrong, as events and results tell it. */

import { codeOf, messageOf } from "../support/index.ts";

/** What a failure's kind means for the next request: failures.md §5. */
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

/** What was thrown, as events and results tell it. Only our own ground throws: what others do wrong is told as it came. */
export function errorInfoOf(error: unknown): ErrorInfo {
  return { code: codeOf(error) ?? "internal", message: messageOf(error) };
}
