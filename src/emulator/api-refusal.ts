/** A refusal in any dialect: its rule, status and message. The dialect decides how it looks on the wire. */

export interface ApiRefusal {
  /** The id in failures.md, if there is one; otherwise a name of our own (X-…). */
  readonly rule: string;
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What a client should read instead of the message (Messages: `error.details`). */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Creates a refusal. Default: HTTP 400, invalid_request_error, param null, code null. */
export function refuse(draft: Pick<ApiRefusal, "rule" | "message"> & Partial<ApiRefusal>): ApiRefusal {
  return { status: 400, type: "invalid_request_error", param: null, code: null, ...draft };
}
