/** The places of a log's paths. Each slot links to the one before it, so a branch costs one link, however long the path it leaves. */

import type { NoticeBlock, TurnEndBlock, UserBlock } from "./block.ts";
import type { ResponseBlocks } from "./response-blocks.ts";

export interface Slot {
  readonly before: Slot | undefined;
  readonly content: UserBlock | NoticeBlock | TurnEndBlock | ResponseBlocks;
  /** When its first event was written. */
  readonly at: string;
  /** True for the message with which the runtime leaves the path, to ask for a summary. */
  readonly leaves: boolean;
}

/** A path that was shown: its end, and the last event while it was. */
export interface ShownPath {
  readonly end: Slot | undefined;
  readonly to: number;
}
