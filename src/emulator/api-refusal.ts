/**
 * A refusal, in any dialect: which rule, which status, which words. How it looks on the wire is the dialect's affair.
 */

export interface ApiRefusal {
  /** The id in failures.md where there is one, else a name of our own (X-…). */
  readonly rule: string;
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What a client is meant to read instead of the message (Messages: `error.details`). */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** HTTP 400, invalid_request_error, param null, code null, unless said otherwise. */
export function refuse(draft: Pick<ApiRefusal, "rule" | "message"> & Partial<ApiRefusal>): ApiRefusal {
  return { status: 400, type: "invalid_request_error", param: null, code: null, ...draft };
}
