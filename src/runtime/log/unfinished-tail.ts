/**
 * The end of a log that a crash left unfinished (docs/log-format.md, Torn tail), as a reader tells it: nothing of it was
 * ever acknowledged, and the next writer sets it aside.
 */

import { scanLines } from "./line-framing.ts";

export interface LogExtent {
  /** How many whole events there are. */
  readonly events: number;
  /** Undefined: the last line is whole. */
  readonly tail: UnfinishedTail | undefined;
}

export interface UnfinishedTail {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly bytes: number;
}

/** Damage is thrown (`log_damaged`). */
export function extentOf(bytes: Buffer): LogExtent {
  const { events, goodBytes, tornBytes } = scanLines(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0 });
  const tail = { line: events.length + 1, byte: goodBytes, bytes: tornBytes };
  return { events: events.length, tail: tornBytes === 0 ? undefined : tail };
}

/** Without reading line by line where there is nothing to find: no line of ours holds a zero. */
export function tailOf(bytes: Buffer): UnfinishedTail | undefined {
  if (bytes.length === 0 || (bytes.at(-1) === 0x0a && !bytes.includes(0x00))) return undefined;
  return extentOf(bytes).tail;
}
