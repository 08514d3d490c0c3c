/**
 * What the model reads about a call without a result. The texts are constant: the fold renders them and recovery
 * records the very same ones, so a request is the same before and after (architecture: open ends; failures.md T01).
 */

import type { ToolCall, ToolStatus } from "../../base/events/index.ts";
import type { Group } from "./entries.ts";

export interface OpenEnd {
  readonly status: ToolStatus;
  readonly text: string;
}

export const CUT_OFF: OpenEnd = {
  status: "not_executed",
  text: "not executed: the response was cut off",
};

export const NEVER_STARTED: OpenEnd = {
  status: "not_executed",
  text: "not executed: the turn was interrupted before this tool ran",
};

export const OUTCOME_UNKNOWN: OpenEnd = {
  status: "outcome_unknown",
  text: "outcome unknown: the turn was interrupted while this tool was running. It may or may not have taken effect; check before running it again",
};

export const RUNNING_IN_PARENT: OpenEnd = {
  status: "outcome_unknown",
  text: "outcome unknown: this tool was running in the parent session when this session was forked from it",
};

export function resultOfOpenCall(group: Group, call: ToolCall): OpenEnd {
  if (group.end?.status !== "completed") return CUT_OFF;
  return group.wasStarted(call.callId) ? OUTCOME_UNKNOWN : NEVER_STARTED;
}
