/**
 * Everything that can go wrong with a request, in one table: how to recognise an error class, what the error names, the
 * remedy, and its effect on later requests (failures.md §5). The classifier (errors.ts) reads the first columns;
 * healing (turn/heal.ts), retries (turn/step.ts) and compaction read the last. named-in-error.ts extracts what an error
 * names.
 */

import type { ErrorClass, ErrorInfo } from "../../base/events/index.ts";

/** Where healing starts. If an error does not name what it should, healing starts with everything. */
type Named =
  /** The responses whose items the error names, by id or by position. */
  | "responses"
  /** The calls the error names. */
  | "calls"
  /** A field of the request, or of the item at the path the error names. */
  | "field"
  /** A response; everything created after it is unreadable too. */
  | "from_there"
  /** Need not be named: the thinking of this request. */
  | "thinking"
  /** Need not be named: the calls that were sent without their provider's signature. */
  | "unsigned_calls"
  /** Need not be named: the responses since the last message, which form one open tool loop. */
  | "open_loop"
  /** Nothing useful for healing. */
  | "nothing";

/** The remedy and its effect on every later request to this origin; other origins are not affected. */
type Remedy =
  /**
   * Recorded as an override: a response is sent back without its reasoning and ids, and if that fails, as plain text.
   */
  | "omit_reasoning"
  /** Recorded as an override: the call and its result are left out. */
  | "close_call"
  /**
   * Recorded as an override: the field is left out. If the item cannot go without the field, acts like
   * `omit_reasoning`.
   */
  | "strip_field"
  /** The runtime adds a message that asks the model to continue; it stays in the conversation. */
  | "ask_to_go_on"
  /** Replaces the front with a summary, if the request and not the answer was too long. */
  | "compact"
  /** Sends the same request again after a wait; later requests do not change. */
  | "retry"
  /** Reports the error to the sender of the message; later requests do not change. */
  | "tell";

interface ErrorRow {
  readonly codes?: readonly string[];
  readonly statuses?: readonly number[];
  /** Matched against the error message. */
  readonly words?: RegExp;
  readonly param?: RegExp;
  readonly names: Named;
  readonly remedy: Remedy;
}

/** Checked in order: the first row that matches determines the class. */
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
      "api_key_failed",
      "model_not_found",
      "authentication_error",
      "permission_error",
      "billing_error",
      "not_found_error",
      "quota_per_day",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "NOT_FOUND",
      "API_KEY_INVALID",
    ],
    statuses: [401, 402, 403],
    names: "nothing",
    remedy: "tell",
  },
  // Before CRYPT: Claude's message matches both, and a changed prefix invalidates every later thought (failures.md
  // C04).
  PREFIX: {
    words:
      /bound to a different conversation|preceded this one when it was created|from the ones? this block was created with/,
    names: "from_there",
    remedy: "omit_reasoning",
  },
  // Before CRYPT: omitting signed content would only leave more unsigned calls (failures.md G01).
  UNSIGNED: { words: /missing a `?thought_signature/, names: "unsigned_calls", remedy: "close_call" },
  CRYPT: {
    codes: ["invalid_encrypted_content"],
    words:
      /could not be verified|Could not decrypt|Could not decode the compaction blob|not issued to this caller|different account or model|did not match the target|not written by this server|Invalid `signature`|Invalid `data` in `redacted_thinking`|thought.signature/i,
    names: "responses",
    remedy: "omit_reasoning",
  },
  PAIR: { words: /without its required/, names: "responses", remedy: "omit_reasoning" },
  TOOLPAIR: {
    words: new RegExp(
      [
        "No tool output found",
        "No tool call found",
        "but no `[a-z_]+` tool was provided",
        "`tool_use` ids were found without",
        "`tool_use` ids must be unique",
        "unexpected `tool_use_id`",
        "must have a single result",
        "must be followed by tool messages",
        "must be a response to a prece",
        "insufficient tool messages",
        "'tool_call_id' of '.*' not found",
        "Not the same number of function calls",
        "Tool call id was .* but must be",
        // A tool that the provider runs: its call without its result, the reverse, and one
        // that waits in a container (anthropics/claude-code#95406, anthropics/anthropic-sdk-typescript#1114).
        "was found without a corresponding",
        "must have a corresponding `server_tool_use`",
        "container_id is required when",
        "source tool `.*` not found",
        "No program found for ",
        "Tool reference '.*' not found",
        // Google
        "function (?:call|response) turn",
        "number of function response parts",
      ].join("|"),
    ),
    names: "calls",
    remedy: "close_call",
  },
  GONE: {
    codes: ["previous_response_not_found"],
    words:
      /not persisted when|not persisted for|Zero Data Retention|(?:Item|Previous response) with id '.*' not found/,
    names: "responses",
    remedy: "omit_reasoning",
  },
  ID: {
    codes: ["invalid_id_prefix"],
    words: /Duplicate item found|'input\[\d+\]\.id'/,
    param: /^input\[\d+\]\.id$/, // any other `.id` belongs to a call
    names: "responses",
    remedy: "omit_reasoning", // ids are removed together with the reasoning, never alone (law 2)
  },
  ECHO: {
    words: /passed back to the API|is missing in assistant tool call message/,
    names: "thinking",
    remedy: "strip_field", // switches thinking off for this history; the thoughts it has are kept (V01, V02)
  },
  CAP: {
    words: new RegExp(
      [
        "can only be provided to a reasoning",
        "not supported (?:with|for|by|on) (?:this model|the)",
        '"thinking\\.type\\.\\w+" is not supported',
        "is not supported when thinking",
        "is deprecated for this model",
        "Encrypted content is not supported",
        "does not support thinking",
        "may only be set to 1 when thinking",
        "Tool use is not allowed",
        "tool_choice forces tool use",
        // An image that the model, or this place of a request, does not accept (failures.md T16).
        "image exceeds ",
        "image dimensions exceed",
        "image was specified using",
        "Image does not match",
        "Could not process image",
        "not represent a valid image",
        "invalid base64 data",
        "all content must be type",
        "Output of tool call should be",
      ].join("|"),
    ),
    names: "field",
    remedy: "strip_field",
  },
  LIMIT: {
    codes: ["context_length_exceeded", "max_output_tokens", "request_too_large"],
    statuses: [413],
    words:
      /context window|maximum context length|prompt is too long|input token count|exceeds the maximum number of tokens/i,
    names: "nothing",
    remedy: "compact",
  },
  THINK: {
    words:
      /cannot be modified|Expected `thinking`|final block .* cannot be `(?:redacted_)?thinking`|When thinking is disabled/,
    names: "open_loop",
    remedy: "omit_reasoning", // and thinking stays off until the loop ends (failures.md C01, C02)
  },
  PREFILL: {
    words:
      /assistant message prefill|must end with a user message|Expected last role User|final assistant content cannot end|multiturn requests|ending with a model turn/,
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
      "RESOURCE_EXHAUSTED",
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
      "invalid_type",
      "string_above_max_length",
      "empty_string",
      "empty_array",
      "invalid_parameter_error",
    ],
    words: new RegExp(
      [
        "is unsupported",
        "field is not allowed",
        "Extra inputs are not permitted",
        "Field required",
        "Input should ",
        "Input tag ",
        "should match pattern",
        "should have at (?:most|least) ",
        "does not match pattern",
        "(?:Unknown|Unsupported|Missing required) parameter",
        "Unrecognized request argument",
        'Unknown name ".*" at \'',
        "Unsupported value: '",
        "Invalid value: '",
        "Invalid value for '",
        "Invalid type for '",
        "Invalid '[a-z_]+",
        "parameter is only allowed when",
        "Failed to deserialize the JSON body",
        "Missing namespace for ",
        "arguments.* must be in JSON format",
        // Messages without text, and a message order that the endpoint refuses.
        "must be non-empty",
        "must have non-empty content",
        "non-whitespace text",
        "must have either content or tool_calls",
        "Unexpected role '",
        "successive user or assistant messages",
      ].join("|"),
    ),
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
      "UNAVAILABLE",
      "INTERNAL",
      "DEADLINE_EXCEEDED",
      "ABORTED",
      "UNKNOWN",
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

/** Classifies an error. If no row matches, only the HTTP status decides; nothing is guessed (failures.md S11). */
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

/** Returns the remedy for an error and where healing starts. */
export function remedyFor(error: ErrorInfo | undefined): Pick<ErrorRow, "names" | "remedy"> {
  return ERROR_TABLE[error?.class ?? "OTHER"];
}
