/** Finds the events of a block, and the block of an event. Pure. */

import type { LoggedEvent } from "../../base/events/index.ts";
import type { Block } from "../fragments/index.ts";

export function eventsOf(block: Block, events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const seqs = new Set<number>(
    block.kind === "reasoning" ? block.seqs : "seq" in block && block.seq !== undefined ? [block.seq] : [],
  );
  const callId = block.kind === "tool" ? block.callId : undefined;
  return events.filter(
    (event) =>
      seqs.has(event.seq) ||
      (callId !== undefined && "callId" in event && event.callId === callId) ||
      (block.kind === "notice" && event.id === block.id) ||
      (block.kind === "turn_end" && event.type === "turn_end" && block.id === `turn_end/${event.turn}`),
  );
}

/** Returns the block that shows an event, if one does. */
export function blockOfSeq(
  seq: number,
  blocks: readonly Block[],
  events: readonly LoggedEvent[],
): Block | undefined {
  const event = events.find((one) => one.seq === seq);
  if (event === undefined) return undefined;
  return blocks.find((block) => eventsOf(block, [event]).length > 0);
}
