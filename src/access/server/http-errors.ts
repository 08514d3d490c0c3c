/**
 * Errors as HTTP: a status per code, and a body that says the code and what to do. What only concerns this machine
 * (paths, system messages, defects) stays here: the client reads that it happened, the server's terminal reads what.
 */

import type { HttpError } from "../../base/api/index.ts";
import { isThroughlineError, messageOf } from "../../base/support/index.ts";

/** Codes whose message was written for whoever asked. Every other code is a failure of the server's own ground. */
const STATUS: Readonly<Record<string, number>> = {
  not_found: 404,
  session_not_found: 404,
  turn_unknown: 404,
  blob_not_found: 404,
  request_unknown: 404,
  seq_unknown: 404,
  session_exists: 409,
  session_locked: 409,
  session_busy: 409,
  session_gone: 409,
  log_read_only: 409,
  log_closed: 409,
  log_damaged: 409,
  log_too_new: 409,
  turn_exists: 409,
  nothing_to_resume: 409,
  nothing_to_retry: 409,
  nothing_to_undo: 409,
  nothing_to_compact: 409,
  nothing_to_export: 409,
  permission_not_pending: 409,
  not_a_message: 409,
  no_settings: 409,
  body_too_large: 413,
  too_many_turns: 429,
  server_stopping: 503,
  body_invalid: 400,
  body_unfinished: 400,
  field_invalid: 400,
  field_unknown: 400,
  parameter_invalid: 400,
  session_id_invalid: 400,
  turn_invalid: 400,
  title_empty: 400,
  input_empty: 400,
  input_invalid: 400,
  keep_turns_invalid: 400,
  model_invalid: 400,
  model_by_name: 400,
  effort_unknown: 400,
  profile_unknown: 400,
  base_url_invalid: 400,
  api_key_missing: 400,
  range_invalid: 400,
  context_too_small: 409,
  schema_invalid: 400,
  format_unknown: 400,
  code_used: 401,
  not_supported: 501,
};

export interface ErrorAnswer {
  readonly status: number;
  readonly body: HttpError;
}

export function errorAnswer(error: unknown): ErrorAnswer {
  const code = isThroughlineError(error) ? error.code : "internal";
  const status = Object.hasOwn(STATUS, code) ? STATUS[code] : undefined;
  if (status !== undefined) return { status, body: { error: { code, message: messageOf(error) } } };
  return {
    status: 500,
    body: { error: { code, message: "the server could not do it; its terminal says what went wrong" } },
  };
}
