/**
 * The active path: the events that count. A `branch` leads back to an earlier point, and the path goes on from there;
 * what was left stays in the log and can be branched to again.
 *
 * @module
 */

import type { LoggedEvent } from "../events/index.ts";

export function activePath(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  let path: LoggedEvent[] = [];
  for (const event of events) {
    if (event.type === "branch") path = pathUpTo(events, path, event.to);
    path.push(event);
  }
  return path;
}

function pathUpTo(events: readonly LoggedEvent[], path: readonly LoggedEvent[], to: number): LoggedEvent[] {
  const index = path.findIndex((event) => event.seq === to);
  if (index !== -1) return path.slice(0, index + 1);
  // A point off the current path: the path as it was when that event was written.
  return [...activePath(events.slice(0, Math.max(0, to) + 1))];
}
