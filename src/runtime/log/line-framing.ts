/**
 * Lines of the file: JSON, checksum as the last field, LF. docs/log-format.md is the specification.
 *
 * The place and form of a defect distinguish a torn tail from damage. A crash can only leave the end of the file
 * unfinished: a missing line break, or sectors that were never written and read as zeros. Anything else is damage. It
 * is reported by line and byte and never skipped.
 */

import {
  type EventHead,
  eventOf,
  formatVersionOf,
  headOf,
  type LineBytes,
  LineHead,
  type LineSource,
  type LoggedEvent,
  parseCheckedLine,
  StoredEvent,
  toOpenLine,
} from "../../base/events/index.ts";
import { frameOpen, isWhole, SUM_BYTES, textOfLine } from "../../base/files/index.ts";
import { messageOf, ThroughlineError } from "../../base/support/index.ts";
import { damagedLog } from "./damage.ts";

export function frameLine(event: LoggedEvent): Buffer {
  return frameOpen(toOpenLine(event));
}

/** Builds new lines, for events that were never lines or were changed. */
export function linesFrom(events: readonly LoggedEvent[]): Buffer {
  return Buffer.concat(events.map((event) => frameLine(event)));
}

export interface ScannedLines {
  readonly events: readonly LoggedEvent[];
  /** Bytes of the complete, verified lines. */
  readonly goodBytes: number;
  /** Bytes after them that a crash left unfinished. */
  readonly tornBytes: number;
}

export interface ScanOptions {
  /** Where the bytes begin in the file. */
  readonly offset: number;
  /** These two continue the previous read. */
  readonly firstSeq: number;
  readonly lowestEpoch: number;
  /** The session of these lines, for the advice about damage. */
  readonly session?: string;
}

/** Reads every line of `bytes` and decodes its event. */
export function scanLines(bytes: Buffer, options: ScanOptions): ScannedLines {
  const { heads, goodBytes } = scanHeads(bytes, options);
  return { events: heads as readonly LoggedEvent[], goodBytes, tornBytes: bytes.length - goodBytes };
}

export interface ScannedHeads {
  readonly heads: readonly EventHead[];
  readonly goodBytes: number;
}

/**
 * Verifies every line of `bytes`. With `lines`, most events are not decoded: they are read from there when something
 * needs them. `bytesAfter` is how much of the file follows.
 */
export function scanHeads(
  bytes: Buffer,
  { offset, firstSeq, lowestEpoch, session }: ScanOptions,
  lines?: LineSource,
  bytesAfter = 0,
): ScannedHeads {
  const heads: EventHead[] = [];
  let at = 0;
  let seq = firstSeq;
  let epoch = lowestEpoch;
  const head = new LineHead();
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) break;
    const whole = isWhole(bytes, at, end);
    const quiet = whole && lines !== undefined && head.read(bytes, at, end - SUM_BYTES);
    if (quiet && head.seq === seq && head.epoch >= epoch) {
      heads.push(new StoredEvent(head, lines, offset + at, offset + end));
      ({ epoch } = head);
    } else {
      const line = readLine(whole ? textOfLine(bytes, at, end) : undefined, end - at);
      if (!line.ok || line.event.seq !== seq || line.event.epoch < epoch) {
        if (!line.ok && isUnwritten(bytes, at, end, offset, bytesAfter)) break;
        const problem = line.ok ? orderProblem(line.event, seq, epoch) : line.problem;
        const damage = { line: seq + 1, byte: offset + at, problem, salvageable: true };
        throw damagedLog(damage, session ?? "FILE");
      }
      const { event } = line;
      heads.push(
        lines === undefined ? event : new StoredEvent(headOf(event), lines, offset + at, offset + end, event),
      );
      ({ epoch } = event);
    }
    seq += 1;
    at = end + 1;
  }
  return { heads, goodBytes: at };
}

/** One line after the other in what was read of a file. */
export class LineInBuffer implements LineBytes {
  bytes: Buffer;
  start = 0;
  end = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Goes to a verified line with its checksum. */
  at(bytes: Buffer, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end - SUM_BYTES;
    return this;
  }

  text(from: number, to: number): string {
    return this.bytes.toString("utf8", from, to);
  }

  find(wanted: Uint8Array, from: number): number {
    const at = this.bytes.subarray(from, this.end).indexOf(wanted);
    return at === -1 ? -1 : from + at;
  }
}

type ReadLine =
  | { readonly ok: true; readonly event: LoggedEvent }
  | { readonly ok: false; readonly problem: string };

/**
 * The first line decides the format of a log. A newer format may give the same fields another meaning, so it is
 * refused.
 */
export function assertFormat(heads: readonly EventHead[], session: string): void {
  const [first] = heads;
  const version = first === undefined ? FORMAT : formatVersionOf(eventOf(first));
  if (version <= FORMAT) return;
  throw new ThroughlineError({
    code: "log_too_new",
    message: `session "${session}" uses log format ${version}, but this version reads only up to format ${FORMAT}. Nothing was changed. Update throughline to open it`,
    details: { version, reads: FORMAT },
  });
}

const FORMAT = 1;

/** `text` is undefined if the line has no checksum that matches. */
function readLine(text: string | undefined, length: number): ReadLine {
  if (length <= SUM_BYTES) return { ok: false, problem: "too short to be an event" };
  if (text === undefined) return { ok: false, problem: "the checksum does not match" };
  try {
    return { ok: true, event: parseCheckedLine(text) };
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
}

/**
 * Zeros in a line are sectors of the last, unsynced write that never reached the disk; later lines of that write may be
 * complete. Such zeros begin at the start of a line or sector and end at the end of a sector; any other zero is a
 * changed byte. The size of a write is bounded, so zeros far from the end were synced long ago. Both of these are
 * damage.
 */
function isUnwritten(bytes: Buffer, start: number, end: number, offset: number, bytesAfter: number): boolean {
  const zero = bytes.indexOf(0x00, start);
  if (zero === -1 || zero > end || bytes.length + bytesAfter - end > LAST_WRITE_BYTES) return false;
  let after = zero;
  while (bytes[after] === 0x00) after += 1;
  return (zero === start || (offset + zero) % SECTOR_BYTES === 0) && (offset + after) % SECTOR_BYTES === 0;
}

const SECTOR_BYTES = 512;
export const LAST_WRITE_BYTES = 1024 * 1024;

function orderProblem(event: LoggedEvent, seq: number, epoch: number): string {
  if (event.seq !== seq) return `seq is ${event.seq}, expected ${seq}`;
  return `epoch went down from ${epoch} to ${event.epoch}`;
}
