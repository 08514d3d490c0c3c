/**
 * Lines of the file: JSON, checksum as the last field, LF. docs/log-format.md is the specification.
 *
 * The place and form of a defect distinguish a torn tail from damage. A crash can only leave the end of the file
 * unfinished: a missing line break, or sectors that were never written and read as zeros. Anything else is damage. It
 * is reported by line and byte and never skipped.
 */

import { formatVersionOf, type LoggedEvent, parseCheckedLine, toOpenLine } from "../../base/events/index.ts";
import { checkedText, frameOpen, SUM_BYTES } from "../../base/files/index.ts";
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

/**
 * Reads every line of `bytes`, which begin at `offset` of the file. `firstSeq` and `lowestEpoch` continue the previous
 * read.
 */
export function scanLines(
  bytes: Buffer,
  options: {
    readonly offset: number;
    readonly firstSeq: number;
    readonly lowestEpoch: number;
    /** The session of these lines, for the advice about damage. */
    readonly session?: string;
  },
): ScannedLines {
  const { offset } = options;
  const events: LoggedEvent[] = [];
  let at = 0;
  let seq = options.firstSeq;
  let epoch = options.lowestEpoch;
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) break;
    const line = readLine(bytes, at, end);
    if (line.ok && line.event.seq === seq && line.event.epoch >= epoch) {
      events.push(line.event);
      seq += 1;
      epoch = line.event.epoch;
      at = end + 1;
      continue;
    }
    if (!line.ok && isUnwritten(bytes, at, end, offset)) break;
    const problem = line.ok ? orderProblem(line.event, seq, epoch) : line.problem;
    const damage = { line: seq + 1, byte: offset + at, problem, salvageable: true };
    throw damagedLog(damage, options.session ?? "FILE");
  }
  return { events, goodBytes: at, tornBytes: bytes.length - at };
}

type ReadLine =
  | { readonly ok: true; readonly event: LoggedEvent }
  | { readonly ok: false; readonly problem: string };

/**
 * The first line decides the format of a log. A newer format may give the same fields another meaning, so it is
 * refused.
 */
export function assertFormat(events: readonly LoggedEvent[], session: string): void {
  const [first] = events;
  const version = first === undefined ? FORMAT : formatVersionOf(first);
  if (version <= FORMAT) return;
  throw new ThroughlineError({
    code: "log_too_new",
    message: `session "${session}" uses log format ${version}, but this version reads only up to format ${FORMAT}. Nothing was changed. Update throughline to open it`,
    details: { version, reads: FORMAT },
  });
}

const FORMAT = 1;

function readLine(bytes: Buffer, start: number, end: number): ReadLine {
  if (end - start <= SUM_BYTES) return { ok: false, problem: "too short to be an event" };
  const text = checkedText(bytes, start, end);
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
function isUnwritten(bytes: Buffer, start: number, end: number, offset: number): boolean {
  const zero = bytes.indexOf(0x00, start);
  if (zero === -1 || zero > end || bytes.length - end > LAST_WRITE_BYTES) return false;
  let after = zero;
  while (bytes[after] === 0x00) after += 1;
  return (zero === start || (offset + zero) % SECTOR_BYTES === 0) && (offset + after) % SECTOR_BYTES === 0;
}

const SECTOR_BYTES = 512;
const LAST_WRITE_BYTES = 1024 * 1024;

function orderProblem(event: LoggedEvent, seq: number, epoch: number): string {
  if (event.seq !== seq) return `seq is ${event.seq}, expected ${seq}`;
  return `epoch went down from ${epoch} to ${event.epoch}`;
}
