/** Why a message cannot be withdrawn. */

import { codedError, type ThroughlineError } from "../../base/support/index.ts";

export function noMessage(turn: string): ThroughlineError {
  return codedError("not_a_message", `turn "${turn}" has no message to withdraw. Cancel the turn instead`);
}

export function turnBegun(turn: string): ThroughlineError {
  return codedError(
    "turn_begun",
    `turn "${turn}" has already begun, so its message cannot be withdrawn. Stop the turn instead`,
  );
}

export function messageJoined(): ThroughlineError {
  return codedError(
    "turn_begun",
    "the message has already joined the running turn, so it cannot be withdrawn. Stop that turn instead",
  );
}

export function turnOver(turn: string): ThroughlineError {
  return codedError("turn_ended", `turn "${turn}" has already ended, so its message cannot be withdrawn`);
}
