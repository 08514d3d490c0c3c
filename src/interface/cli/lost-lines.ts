/**
 * Finds the lines that a repaired log lost (`repair`). A request after one of them cannot be rebuilt as it was sent, which
 * is not a problem to report.
 */

import type { LoggedEvent } from "../../base/events/index.ts";

/** Returns the numbers of the events that were lost before this one. */
export function lostBefore(events: readonly LoggedEvent[], seq: number): readonly number[] {
  return events.filter((event) => event.seq < seq && isStandIn(event)).map((event) => event.seq);
}

/** "event 5", "events 5, 6 and 9", "40 events from 5 to 60". */
export function eventNames(seqs: readonly number[]): string {
  if (seqs.length === 1) return `event ${seqs[0]}`;
  if (seqs.length > MANY) return `${seqs.length} events from ${seqs[0]} to ${seqs.at(-1)}`;
  return `events ${seqs.slice(0, -1).join(", ")} and ${seqs.at(-1)}`;
}

const MANY = 8;

function isStandIn(event: LoggedEvent): boolean {
  if (event.type === "notice") return event.code === "line_lost";
  return event.type === "session_start" && event.writer === "throughline/repair";
}
