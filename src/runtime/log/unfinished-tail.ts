/**
 * Describes the end of a log that a crash left unfinished (docs/log-format.md, Torn tail). None of it was ever
 * acknowledged, and the next writer sets it aside.
 */

import { scanLines } from "./line-framing.ts";

export interface LogExtent {
  /** The number of complete events. */
  readonly events: number;
  /** Undefined if the last line is complete. */
  readonly tail: UnfinishedTail | undefined;
}

export interface UnfinishedTail {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly bytes: number;
}

/** Throws `log_damaged` if the log is damaged. */
export function extentOf(bytes: Buffer): LogExtent {
  const { events, goodBytes, tornBytes } = scanLines(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0 });
  const tail = { line: events.length + 1, byte: goodBytes, bytes: tornBytes };
  return { events: events.length, tail: tornBytes === 0 ? undefined : tail };
}

/** Skips the line-by-line scan if there is nothing to find: our lines never hold a zero byte. */
export function tailOf(bytes: Buffer): UnfinishedTail | undefined {
  if (bytes.length === 0 || (bytes.at(-1) === 0x0a && !bytes.includes(0x00))) return undefined;
  return extentOf(bytes).tail;
}
