/**
 * The active path: the events that count. A `branch` leads back to an earlier point, and the path continues from there;
 * the abandoned events stay in the log and can be branched to again.
 *
 * The turn of a compaction stays off the path: it begins with a `branch` or a message of that purpose, and ends with a
 * `branch` back to where it began. If it never ended (a crash), the next message leaves it as if that branch were
 * there; recovery writes it down.
 */

import { type Branch, type EventHead, eventOf, type LoggedEvent } from "../../base/events/index.ts";

export function activePath<Event extends EventHead>(events: readonly Event[]): readonly Event[] {
  return walkPath(events).path;
}

export interface Walked<Event> {
  readonly path: readonly Event[];
  /** A turn off the path that has not ended: its id, and the path it will lead back to. */
  readonly aside: { readonly turn: string; readonly path: readonly Event[] } | undefined;
}

export function walkPath<Event extends EventHead>(events: readonly Event[]): Walked<Event> {
  const { before, aside } = walk(events);
  const path = chainTo(events, before, events.length - 1);
  return { path, aside: aside && { turn: aside.turn, path: chainTo(events, before, aside.last) } };
}

/** For each event, the index of its predecessor on its path; -1 for the first. */
export function eventsBefore(events: readonly EventHead[]): readonly number[] {
  return walk(events).before;
}

interface Links {
  readonly before: readonly number[];
  readonly aside: { readonly turn: string; readonly last: number } | undefined;
}

/**
 * Each event knows its predecessor on its path, so a path is the chain that leads back from its last event. A branch
 * then costs one link, however long the path it leaves and however often a session goes back and forth.
 */
function walk(events: readonly EventHead[]): Links {
  const before: number[] = [];
  let last = -1;
  let aside: Links["aside"];
  for (const [index, event] of events.entries()) {
    if (aside !== undefined && leavesAside(event, aside.turn)) {
      if (event.type === "user_message") last = aside.last;
      aside = undefined;
    }
    if (aside === undefined && startsAside(event)) aside = { turn: event.turn, last };
    if (event.type === "branch") last = branchPoint(event, index) ?? last;
    before.push(last);
    last = index;
  }
  return { before, aside };
}

/** Undefined for a branch to itself or to a later event, which no writer makes; the path then continues unchanged. */
function branchPoint(head: EventHead, index: number): number | undefined {
  const { to } = eventOf(head) as Branch;
  return to < index ? Math.max(0, to) : undefined;
}

function chainTo<Event>(events: readonly Event[], before: readonly number[], last: number): Event[] {
  const path: Event[] = [];
  for (let index = last; index >= 0; index = before[index] ?? -1) path.push(events[index] as Event);
  return path.toReversed();
}

/**
 * Whether the turn of this event has begun. A turn that was cancelled before it began has only its end, settings can be
 * logged ahead of a turn, and a notice may follow long after it.
 */
export function showsBegunTurn(event: EventHead): boolean {
  return event.turn !== undefined && !BEGINS_NOTHING.has(event.type);
}

const BEGINS_NOTHING: ReadonlySet<LoggedEvent["type"]> = new Set(["turn_end", "notice", "settings"]);

/** Whether this is the first event of a turn that the runtime itself starts. */
export function startsAside<Head extends EventHead>(head: Head): head is Head & { readonly turn: string } {
  if (head.turn === undefined || (head.type !== "branch" && head.type !== "user_message")) return false;
  const event = eventOf(head);
  return event.type === "branch"
    ? event.why === "compaction"
    : event.type === "user_message" && event.purpose !== undefined;
}

/** Whether this is the end of that turn, or an event of another one. */
export function leavesAside(event: EventHead, turn: string): boolean {
  if (event.type === "turn_end") return event.turn === turn;
  return (event.type === "user_message" || event.type === "branch") && event.turn !== turn;
}
