/**
 * What a retry keeps of a turn that failed or ran into a limit: the steps whose tools have run. The new turn continues
 * from there, on the same model or another, so that no tool runs twice.
 */

import type { LoggedEvent, ToolCall, TurnEnd } from "../../base/events/index.ts";
import { type Entry, type Group, opensTurn } from "../fold/index.ts";
import { lastTurnOf, previousOnPath } from "./history-edits.ts";

export interface KeptSteps {
  /** The last event that stays on the path. */
  readonly to: number;
  /** Calls of the last step without a result. They get the constant one. */
  readonly owed: readonly { readonly group: Group; readonly call: ToolCall }[];
}

/**
 * Undefined if the last turn completed, was stopped by a person, or finished no step. Its message is then answered
 * again.
 */
export function keptSteps(path: readonly LoggedEvent[], entries: readonly Entry[]): KeptSteps | undefined {
  const begun = lastTurnOf(path);
  const end = path.findLast((event): event is TurnEnd => event.type === "turn_end" && event.turn === begun);
  if (end?.status !== "failed" && end?.status !== "incomplete") return undefined;
  const asked = entries.findLastIndex(opensTurn);
  const groups = entries.slice(asked + 1).filter((entry) => entry.kind === "group");
  if (!groups.some(isFinished)) return undefined;
  const last = groups.at(-1) as Group;
  if (!isFinished(last)) return { to: previousOnPath(path, firstAttempt(groups, last).start.seq), owed: [] };
  const { response } = last.start;
  // A message that joined after it stays too.
  const to =
    path.findLast(
      (event) =>
        ("response" in event && event.response === response) ||
        (event.type === "user_message" && event.steer !== undefined),
    )?.seq ?? end.seq;
  const owed = last.calls.filter(({ callId }) => last.resultOf(callId) === undefined);
  return { to, owed: owed.map((call) => ({ group: last, call })) };
}

/** A completed response whose tools have run or had started. Not one that a limit stopped before. */
function isFinished(group: Group): boolean {
  return (
    group.end?.status === "completed" &&
    group.calls.some(({ callId }) => {
      const result = group.resultOf(callId);
      return result === undefined ? group.wasStarted(callId) : result.status !== "not_executed";
    })
  );
}

/** The first attempt of the unfinished step: everything before it stays. */
function firstAttempt(groups: readonly Group[], { start: { turn, step } }: Group): Group {
  return groups.find(({ start }) => start.turn === turn && start.step === step) as Group;
}
