/**
 * Finishes a compaction that a crash left open (turn/recover.ts): its open exchange is abandoned, and the compaction
 * runs again. If it was meant to make room for a turn that ran full, that turn then continues.
 */

import { type TurnResult, turnResult } from "../../base/api/index.ts";
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
  if (!wasForFullTurn(events)) return compactNow(options.contextFor(turn, "compaction"), closing, {});
  const { responses: _responses, ...outcome } = await compactAgainAndGoOn(turn, closing, options);
  return turnResult(outcome);
}

/** Whether the last event before it is the end of a turn whose context was full. */
function wasForFullTurn(events: readonly LoggedEvent[]): boolean {
  const last = walkPath(events).aside?.path.findLast(
    (event) => event.turn !== undefined && event.type !== "notice",
  );
  return last?.type === "turn_end" && last.status === "incomplete" && last.reason === "context";
}
