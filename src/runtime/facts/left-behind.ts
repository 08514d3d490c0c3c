/** Events that are on no active path: what an edit, a retry or an undo left behind. */

import type { LoggedEvent } from "../../base/events/index.ts";
import { activePath } from "../fold/index.ts";

export function leftBehind(events: readonly LoggedEvent[]): ReadonlySet<number> {
  const used = new Set(activePath(events).map(({ seq }) => seq));
  return new Set(events.filter(({ seq, type }) => !used.has(seq) && type !== "branch").map(({ seq }) => seq));
}
