/** Finds the turn that a compaction was made for, if a crash interrupted the compaction (turn/recover.ts). */

import { eventOf, headsOf, type LoggedEvent } from "../../base/events/index.ts";
import { walkPath } from "../fold/index.ts";

/** The turn whose full context the open compaction makes room for: the last event before it is that turn's end. */
export function turnThatRanFull(events: readonly LoggedEvent[]): string | undefined {
  const head = walkPath(headsOf(events)).aside?.path.findLast(
    (event) => event.turn !== undefined && event.type !== "notice",
  );
  const last = head === undefined ? undefined : eventOf(head);
  const ranFull = last?.type === "turn_end" && last.status === "incomplete" && last.reason === "context";
  return ranFull ? last.turn : undefined;
}
