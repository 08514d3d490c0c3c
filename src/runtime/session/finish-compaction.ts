/**
 * A compaction that the process did not survive: what it had asked for is left aside, and it is made again. Where it was to
 * make room in a turn that ran full, that turn goes on afterwards, as it would have.
 *
 * @module
 */

import type { TurnResult } from "../../base/api/index.ts";
import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import { walkPath } from "../fold/index.ts";
import { goOnAfterCrash, type RoomOptions } from "../turn/index.ts";
import { compactNow } from "./compact-now.ts";

export async function finishCompaction(
  turn: string,
  events: readonly LoggedEvent[],
  closing: readonly EventDraft[],
  room: RoomOptions,
): Promise<TurnResult> {
  if (!madeRoomInATurn(events)) return compactNow(room.contextFor(turn, room.limits, true), closing, {});
  const { responses: _responses, ...outcome } = await goOnAfterCrash(turn, closing, room);
  return outcome;
}

/** The last thing before it is a turn that ended because its context was full. */
function madeRoomInATurn(events: readonly LoggedEvent[]): boolean {
  const last = walkPath(events).aside?.path.findLast(
    (event) => event.turn !== undefined && event.type !== "notice",
  );
  return last?.type === "turn_end" && last.status === "incomplete" && last.reason === "context";
}
