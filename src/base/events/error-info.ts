/** Errors as events and results carry them. */

import { codeOf, messageOf } from "../support/index.ts";

/** The kind of a failure. It decides how the next request changes (failures.md §5). */
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

/** A failure of a provider, a tool or the log, as events and results carry it. */
export interface ErrorInfo {
  /** A code of ours, or the provider's own. */
  readonly code: string;
  readonly message: string;
  readonly class?: ErrorClass | undefined;
  /** The part of the request that the provider objects to. */
  readonly param?: string | undefined;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string | undefined;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** Converts a thrown value. Only our own code throws; errors of providers and tools are recorded as received. */
export function errorInfoOf(error: unknown): ErrorInfo {
  return { code: codeOf(error) ?? "internal", message: messageOf(error) };
}
