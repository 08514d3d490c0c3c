/**
 * The active path: the events that count. A `branch` leads back to an earlier point, and the path goes on from there;
 * what was left stays in the log and can be branched to again.
 *
 * The turn of a compaction stands aside: it begins with a `branch` or a message of that purpose, and ends
 * with a `branch` back to where it began. One that never ended (a crash) is left by the next message, as if that branch
 * were there; recovery writes it down.
 */

import type { LoggedEvent } from "../../base/events/index.ts";

export function activePath(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  return walkPath(events).path;
}

export interface Walked {
  readonly path: readonly LoggedEvent[];
  /** A turn that stands aside and has not ended: its id, and the path it will lead back to. */
  readonly aside: { readonly turn: string; readonly path: readonly LoggedEvent[] } | undefined;
}

export function walkPath(events: readonly LoggedEvent[]): Walked {
  let path: LoggedEvent[] = [];
  let aside: Walked["aside"];
  for (const event of events) {
    if (aside !== undefined && leavesAside(event, aside.turn)) {
      if (event.type === "user_message") path = [...aside.path];
      aside = undefined;
    }
    if (aside === undefined && startsAside(event)) aside = { turn: event.turn, path: [...path] };
    if (event.type === "branch") path = pathUpTo(events, path, event.to);
    path.push(event);
  }
  return { path, aside };
}

/** The first event of a turn of the runtime's own. */
export function startsAside(event: LoggedEvent): event is LoggedEvent & { readonly turn: string } {
  if (event.turn === undefined) return false;
  return event.type === "branch"
    ? event.why === "compaction"
    : event.type === "user_message" && event.purpose !== undefined;
}

/** Its end, or something of another turn. */
export function leavesAside(event: LoggedEvent, turn: string): boolean {
  if (event.type === "turn_end") return event.turn === turn;
  return (event.type === "user_message" || event.type === "branch") && event.turn !== turn;
}

function pathUpTo(events: readonly LoggedEvent[], path: readonly LoggedEvent[], to: number): LoggedEvent[] {
  const index = path.findIndex((event) => event.seq === to);
  if (index !== -1) return path.slice(0, index + 1);
  // A point off the current path: the path as it was when that event was written.
  return [...activePath(events.slice(0, Math.max(0, to) + 1))];
}
