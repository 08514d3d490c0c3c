/**
 * Errors as HTTP: a status for each code, and a body with the code and advice. Details of this machine (paths, system
 * messages, defects) stay here: the client learns that it happened, the server's terminal shows what.
 */

import type { HttpError, TurnResult } from "../../base/api/index.ts";
import { type ErrorCode, isThroughlineError, messageOf } from "../../base/support/index.ts";

/** Codes whose message is written for the client. Any other is an internal failure of the server. */
const CODES: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: [
    "body_invalid",
    "body_unfinished",
    "field_invalid",
    "field_unknown",
    "parameter_invalid",
    "session_id_invalid",
    "turn_invalid",
    "title_empty",
    "input_empty",
    "input_invalid",
    "keep_turns_invalid",
    "model_invalid",
    "model_by_name",
    "effort_unknown",
    "profile_unknown",
    "base_url_invalid",
    "api_key_missing",
    "range_invalid",
    "schema_invalid",
    "steer_invalid",
    "format_unknown",
    "options_invalid",
    "allow_rule_invalid",
    "elicitation_invalid",
  ],
  401: ["code_used"],
  403: ["right_missing"],
  404: [
    "not_found",
    "session_not_found",
    "turn_unknown",
    "blob_not_found",
    "request_imported",
    "request_unknown",
    "seq_unknown",
    "rule_not_found",
    "mcp_server_unknown",
  ],
  409: [
    "session_exists",
    "session_locked",
    "session_open_elsewhere",
    "session_busy",
    "session_gone",
    "log_read_only",
    "log_closed",
    "log_damaged",
    "log_too_large",
    "log_too_new",
    "turn_exists",
    "nothing_to_resume",
    "nothing_to_retry",
    "nothing_to_undo",
    "nothing_to_compact",
    "nothing_to_export",
    "nothing_to_cancel",
    "turn_begun",
    "turn_ended",
    "permission_not_pending",
    "permission_mismatch",
    "elicitation_not_pending",
    "not_a_message",
    "no_settings",
    "context_too_small",
    "compaction_cancelled",
    "store_restored",
    "mcp_prompt_failed",
  ],
  413: ["body_too_large"],
  429: ["too_many_turns", "tenant_full"],
  503: [
    "server_stopping",
    "command_unconfirmed",
    "session_fenced",
    "session_handed_over",
    "store_full",
    "store_unreachable",
  ],
};

const STATUS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)])),
);

export interface ErrorAnswer {
  readonly status: number;
  readonly body: HttpError;
}

const HIDDEN = "the request failed on the server; its terminal shows why";

/** What a client reads instead of words for whoever runs the server. */
const FOR_CLIENTS: ReadonlyMap<string, string> = new Map([
  ["store_unreachable", "the server cannot reach its database right now. Send the request again in a moment"],
  [
    "store_full",
    "the server's database has no space left. Nothing was written. Send the request again later",
  ],
]);

/** With every 503: when the same request may be sent again. */
export const RETRY_SECONDS = "2";

/** Whether a 503 is part of how nodes come and go, so that nobody has to be told. */
export function isPassing(code: string): boolean {
  return STATUS.get(code) === 503 && !code.startsWith("store_");
}

/**
 * The message for the client. Any message not written for clients is hidden, since it may name a path of this machine.
 */
export function publicMessage(code: string | undefined, message: string): string {
  return STATUS.has(code ?? "") ? (FOR_CLIENTS.get(code ?? "") ?? message) : HIDDEN;
}

/** The same for the result of a turn. Messages of a provider or a tool stay. */
export function publicResult(result: TurnResult): TurnResult {
  const { error } = result;
  if (error === undefined || !GROUND.test(error.code)) return result;
  return { ...result, error: { ...error, message: publicMessage(error.code, error.message) } };
}

/** Codes of the server's own infrastructure. */
const GROUND = /^(?:log|blob|waiting|file|lock|store)_/;

export function errorAnswer(error: unknown): ErrorAnswer {
  const code = isThroughlineError(error) ? error.code : "internal";
  const status = STATUS.get(code);
  if (status !== undefined)
    return { status, body: { error: { code, message: publicMessage(code, messageOf(error)) } } };
  return {
    status: 500,
    body: { error: { code, message: HIDDEN } },
  };
}
