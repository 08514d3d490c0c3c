/**
 * A compaction that a crash left open (turn/recover.ts): what it had asked for is left aside, and it is made again. Where it was to
 * make room in a turn that ran full, that turn goes on afterwards, as it would have.
 */

import type { TurnResult } from "../../base/api/index.ts";
import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import { walkPath } from "../fold/index.ts";
import { compactAgainAndGoOn, type CompactingOptions } from "./compact-around-turn.ts";
import { compactNow } from "./compact-now.ts";

export async function finishCompaction(
  turn: string,
  events: readonly LoggedEvent[],
  closing: readonly EventDraft[],
  options: CompactingOptions,
): Promise<TurnResult> {
  if (!madeRoomInATurn(events)) return compactNow(options.contextFor(turn, "compaction"), closing, {});
  const { responses: _responses, ...outcome } = await compactAgainAndGoOn(turn, closing, options);
  return outcome;
}

/** The last thing before it is a turn that ended because its context was full. */
function madeRoomInATurn(events: readonly LoggedEvent[]): boolean {
  const last = walkPath(events).aside?.path.findLast(
    (event) => event.turn !== undefined && event.type !== "notice",
  );
  return last?.type === "turn_end" && last.status === "incomplete" && last.reason === "context";
}
