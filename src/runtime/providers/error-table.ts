/**
 * What can go wrong with a request, in one table: how an error of a class is known, what it names, what is done about it
 * and what that means for later requests (failures.md §5). The classifier (errors.ts) reads the first columns, healing
 * (turn/heal.ts), retries (turn/step.ts) and compaction the last; what an error names is read by named-in-error.ts.
 */

import type { ErrorClass, ErrorInfo } from "../../base/events/index.ts";

/** Where healing begins. What the error should name and does not: with everything. */
type Named =
  /** The responses whose items it names, by id or by place. */
  | "responses"
  /** The calls it names. */
  | "calls"
  /** A field, of the request or of the item at the place it names. */
  | "field"
  /** No need to name it: the responses since the last message, one open tool loop. */
  | "open_loop"
  /** Nothing that would help. */
  | "nothing";

/** What is done, and its effect on every later request to this origin; other origins are not affected. */
type Remedy =
  /** Recorded as an override: a response goes back without its reasoning and ids, then as plain text. */
  | "omit_reasoning"
  /** Recorded as an override: the call and its result stay out. */
  | "close_call"
  /** Recorded as an override: the field stays out. One that an item cannot be without: like `omit_reasoning`. */
  | "strip_field"
  /** A message of the runtime's asks the model to go on, and stays in the conversation. */
  | "ask_to_go_on"
  /** The front becomes a summary, where the request and not the answer was too long. */
  | "compact"
  /** The same request after a wait; later ones are as they were. */
  | "retry"
  /** Told to whoever sent the message; later requests are as they were. */
  | "tell";

interface ErrorRow {
  readonly codes?: readonly string[];
  readonly statuses?: readonly number[];
  /** In its message. */
  readonly words?: RegExp;
  readonly param?: RegExp;
  readonly names: Named;
  readonly remedy: Remedy;
}

/** In order: the first row that knows an error names its class. */
const ERROR_TABLE: Readonly<Record<ErrorClass, ErrorRow>> = {
  FATAL: {
    codes: [
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
    ],
    statuses: [401, 402, 403],
    names: "nothing",
    remedy: "tell",
  },
  CRYPT: {
    codes: ["invalid_encrypted_content"],
    words:
      /could not be verified|Could not decrypt|Could not decode the compaction blob|not issued to this caller|different account or model|Invalid `signature`|thought.signature/i,
    names: "responses",
    remedy: "omit_reasoning",
  },
  PREFIX: { words: /bound to a different conversation/, names: "nothing", remedy: "omit_reasoning" },
  PAIR: { words: /without its required/, names: "responses", remedy: "omit_reasoning" },
  TOOLPAIR: {
    words:
      /No tool output found|No tool call found|`tool_use` ids were found without|unexpected `tool_use_id`|must be followed by tool messages|must be a response to a prece/,
    names: "calls",
    remedy: "close_call",
  },
  GONE: {
    codes: ["previous_response_not_found"],
    words: /not persisted when|not persisted for|Zero Data Retention/,
    names: "responses",
    remedy: "omit_reasoning",
  },
  ID: {
    codes: ["invalid_id_prefix"],
    words: /Duplicate item found|'input\[\d+\]\.id'/,
    param: /\.id$/,
    names: "responses",
    remedy: "omit_reasoning", // ids go with the reasoning, never alone (law 2)
  },
  ECHO: {
    words: /passed back to the API|is missing in assistant tool call message/,
    names: "nothing",
    remedy: "omit_reasoning",
  },
  CAP: {
    words:
      /can only be provided to a reasoning|not supported with this model|not supported with the|Encrypted content is not supported/,
    names: "field",
    remedy: "strip_field",
  },
  LIMIT: {
    codes: ["context_length_exceeded", "max_output_tokens", "request_too_large"],
    words: /context window|maximum context length|prompt is too long/i,
    names: "nothing",
    remedy: "compact",
  },
  THINK: {
    words:
      /cannot be modified|Expected `thinking`|final block .* cannot be `thinking`|When thinking is disabled/,
    names: "open_loop",
    remedy: "omit_reasoning", // and thinking stays off until the loop ends (failures.md C01, C02)
  },
  PREFILL: {
    words: /assistant message prefill|must end with a user message/,
    names: "nothing",
    remedy: "ask_to_go_on",
  },
  RATE: {
    codes: [
      "rate_limit_exceeded",
      "rate_limit_error",
      "slow_down",
      "server_is_overloaded",
      "overloaded_error",
    ],
    statuses: [429, 529],
    names: "nothing",
    remedy: "retry",
  },
  SCHEMA: {
    codes: [
      "unknown_parameter",
      "missing_required_parameter",
      "array_above_max_length",
      "invalid_value",
      "unsupported_parameter",
      "extra_forbidden",
      "unsupported_value",
    ],
    words:
      /is unsupported|field is not allowed|Extra inputs are not permitted|Unknown parameter|Unsupported parameter/,
    names: "field",
    remedy: "strip_field",
  },
  TRUNC: {
    codes: [
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
    ],
    names: "nothing",
    remedy: "retry",
  },
  OTHER: { names: "nothing", remedy: "tell" },
};

export interface Evidence {
  readonly status?: number | undefined;
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
}

/** An error that no row knows is judged by its HTTP status, never guessed at (failures.md S11). */
export function classOf({ status, code, message, param = "" }: Evidence): ErrorClass {
  for (const [name, row] of Object.entries(ERROR_TABLE)) {
    const known =
      row.codes?.includes(code) === true ||
      (status !== undefined && row.statuses?.includes(status) === true) ||
      row.words?.test(message) === true ||
      row.param?.test(param) === true;
    if (known) return name as ErrorClass;
  }
  const outage = status !== undefined && (status === 408 || status === 409 || status >= 500);
  return outage ? "TRUNC" : "OTHER";
}

/** What is done about an error, and where that begins. */
export function remedyFor(error: ErrorInfo | undefined): Pick<ErrorRow, "names" | "remedy"> {
  return ERROR_TABLE[error?.class ?? "OTHER"];
}
