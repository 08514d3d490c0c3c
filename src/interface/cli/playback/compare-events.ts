/**
 * Compares two lists of events, ignoring ids and times. Results of tools that ran in parallel may arrive in any order.
 * Pure.
 */

import { type LoggedEvent, toLine } from "../../../base/events/index.ts";

export interface EventDifference {
  /** The position in the run, counted from 1. */
  readonly nth: number;
  readonly recorded: string;
  readonly played: string;
}

/** Fields that always differ from run to run. */
const CHANCE: ReadonlySet<string> = new Set([
  "id",
  "seq",
  "at",
  "epoch",
  "turn",
  "response",
  "startedAt",
  "durationMs",
  "idempotencyKey",
  "cwd",
  "writer",
  "blob",
]);

export function compareEvents(
  recorded: readonly LoggedEvent[],
  played: readonly LoggedEvent[],
): EventDifference | undefined {
  const [a, b] = [masked(recorded), masked(played)];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    if (a[at] !== b[at]) return { nth: at + 1, recorded: a[at] ?? "(nothing)", played: b[at] ?? "(nothing)" };
  }
  return undefined;
}

function masked(events: readonly LoggedEvent[]): readonly string[] {
  const ordinals = ordinalsOf(events);
  const lines: string[] = [];
  let results: string[] = [];
  for (const event of events) {
    const line = maskedLine(event, ordinals);
    if (event.type === "tool_result") {
      results.push(line);
      continue;
    }
    lines.push(...results.toSorted(), line);
    results = [];
  }
  return [...lines, ...results.toSorted()];
}

/** Numbers the ids, because an event may name another by its id, for example in a correction. */
function ordinalsOf(events: readonly LoggedEvent[]): ReadonlyMap<string, string> {
  const ids = new Set(
    events.flatMap(({ turn, response }) => [turn, response]).filter((id) => id !== undefined),
  );
  return new Map([...ids].map((id, index) => [id, `#${index + 1}`]));
}

/** The events of questions to a person; their ids are by chance. */
const ASKED: ReadonlySet<string> = new Set([
  "permission_request",
  "permission_decision",
  "elicitation_request",
  "elicitation_answer",
]);

function maskedLine(event: LoggedEvent, ordinals: ReadonlyMap<string, string>): string {
  if (event.type === "unknown") return event.unknownType;
  const asked = ASKED.has(event.type);
  const kept = Object.entries(event).filter(
    ([name]) => !CHANCE.has(name) && !(asked && name === "requestId"),
  );
  // Serialise the event, so that raw JSON is compared as text.
  const line = toLine(Object.fromEntries(kept) as unknown as LoggedEvent);
  return line.replaceAll(/\b(?:rsp|tn)_\w+/g, (id) => ordinals.get(id) ?? id);
}
