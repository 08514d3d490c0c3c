/** Finds the turn that a compaction was made for, if a crash interrupted the compaction (turn/recover.ts). */

import type { LoggedEvent } from "../../base/events/index.ts";
import { walkPath } from "../fold/index.ts";

/** The turn whose full context the open compaction makes room for: the last event before it is that turn's end. */
export function turnThatRanFull(events: readonly LoggedEvent[]): string | undefined {
  const last = walkPath(events).aside?.path.findLast(
    (event) => event.turn !== undefined && event.type !== "notice",
  );
  const ranFull = last?.type === "turn_end" && last.status === "incomplete" && last.reason === "context";
  return ranFull ? last.turn : undefined;
}
