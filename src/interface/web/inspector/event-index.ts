/** Finds an event by its number, and the block that shows it. */

import type { LoggedEvent } from "../../../base/events/index.ts";
import type { Block } from "../../fragments/index.ts";

/** The numbers of a log have no gaps, so an event is where its number says; the search is for what another program wrote. */
export function eventAt(events: readonly LoggedEvent[], seq: number): LoggedEvent | undefined {
  const there = events[seq];
  return there?.seq === seq ? there : events.find((event) => event.seq === seq);
}

export interface BlockIndex {
  block(id: string | undefined): Block | undefined;
  /** The id of the block that shows the event. */
  ofEvent(event: LoggedEvent | undefined): string | undefined;
}

/** Blocks of an abandoned branch are not shown, so their events have none. */
export function blockIndex(blocks: readonly Block[]): BlockIndex {
  const bySeq = new Map<number, string>();
  const ids = new Map<string, Block>();
  const byCall = new Map<string, string>();
  for (const block of blocks) {
    ids.set(block.id, block);
    if (block.kind === "reasoning") for (const seq of block.seqs) bySeq.set(seq, block.id);
    else if ("seq" in block && block.seq !== undefined) bySeq.set(block.seq, block.id);
    if (block.kind === "tool" && block.callId !== undefined)
      byCall.set(callKey(responseOf(block.id), block.callId), block.id);
  }
  return {
    block: (id) => (id === undefined ? undefined : ids.get(id)),
    ofEvent(event) {
      if (event === undefined) return undefined;
      const direct = bySeq.get(event.seq) ?? (ids.has(event.id) ? event.id : undefined);
      if (direct !== undefined) return direct;
      if ("callId" in event && event.response !== undefined)
        return byCall.get(callKey(event.response, event.callId));
      // The visible part of an item that never finished has no number in its block.
      const key =
        "outputIndex" in event ? `${event.response}/${event.outputIndex}` : `turn_end/${event.turn}`;
      return ids.has(key) && ("outputIndex" in event || event.type === "turn_end") ? key : undefined;
    },
  };
}

/** Call ids may repeat in later responses. */
function callKey(response: string, callId: string): string {
  return `${response} ${callId}`;
}

function responseOf(block: string): string {
  return block.slice(0, block.lastIndexOf("/"));
}
