/** The lines of events as a log reads them: nothing is decoded before somebody asks. */

import type { EventHead, LineSource, LoggedEvent } from "../../src/base/events/index.ts";
import { textOfLine } from "../../src/base/files/index.ts";
import { LineInBuffer, linesFrom, scanHeads } from "../../src/runtime/log/line-framing.ts";

export interface StoredLines {
  readonly heads: readonly EventHead[];
  /** The events whose lines were looked at again, each time. */
  readonly read: readonly number[];
}

/** `change` is what becomes of the text of a line after it was scanned. */
export function storedLines(
  events: readonly LoggedEvent[],
  change: (text: string) => string = (text) => text,
): StoredLines {
  const bytes = linesFrom(events);
  const read: number[] = [];
  const changed = (start: number, end: number): string => change(textOfLine(bytes, start, end));
  const lines: LineSource = {
    text(start, end, seq) {
      read.push(seq);
      return changed(start, end);
    },
    bytes(start, end, seq) {
      read.push(seq);
      const again = Buffer.from(`${changed(start, end).slice(0, -1)},"sum":"00000000"}`);
      return new LineInBuffer(again).at(again, 0, again.length);
    },
    damaged: (_start, seq, error) => new Error(`line ${seq}`, { cause: error }),
    keeps: true,
  };
  const from = { offset: 0, firstSeq: events[0]?.seq ?? 0, lowestEpoch: 0 };
  return { heads: scanHeads(bytes, from, lines).heads, read };
}
