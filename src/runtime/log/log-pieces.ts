/**
 * The bytes of a log file, read in pieces of whole lines. The event loop is free between two pieces. Pieces stay in
 * memory, so that an event is decoded from there when it is needed. A log that is larger than what is kept is read
 * again from the file, and each line is verified again.
 */

import { constants as limits } from "node:buffer";
import { closeSync, constants, fstatSync, read, readSync } from "node:fs";
import { promisify } from "node:util";

import type { EventHead, LineSource } from "../../base/events/index.ts";
import { isWhole, textOfLine } from "../../base/files/index.ts";
import { codedError, isThroughlineError, messageOf } from "../../base/support/index.ts";
import { damagedLog } from "./damage.ts";
import { LAST_WRITE_BYTES, LineInBuffer, type ScannedHeads, scanHeads } from "./line-framing.ts";
import { assertFits, mostEvents } from "./log-size.ts";
import { openRegular } from "./open-log-file.ts";

/** Scanning one takes a few milliseconds. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** How much of a log stays in memory: the newest pieces. */
const KEPT_BYTES = 256 * 1024 * 1024;

/** What bounds the memory that a log takes. */
export interface PieceSizes {
  readonly piece: number;
  readonly kept: number;
  /** The longest line. */
  readonly line: number;
  /** The most events. */
  readonly events: number;
}

const NOTHING = Buffer.alloc(0);

const SIZES: PieceSizes = {
  piece: PIECE_BYTES,
  kept: KEPT_BYTES,
  line: limits.MAX_STRING_LENGTH, // no string can hold a longer one
  events: mostEvents(),
};

interface Piece {
  readonly start: number;
  readonly length: number;
  bytes: Buffer | undefined;
}

/** Continues the previous read. */
export interface ReadFrom {
  readonly offset: number;
  readonly seq: number;
  readonly epoch: number;
}

const readPiece = promisify(read);

export interface LoadedLines {
  /** Where the last complete line ends in the file. */
  readonly goodBytes: number;
  /** What follows it. */
  readonly tail: Buffer;
}

/** One pass over a file, piece by piece. A line that a piece cuts in two begins the next one. */
class Reading implements LoadedLines {
  readonly #pieces: LogPieces;
  readonly #size: number;
  readonly #take: (heads: readonly EventHead[]) => void;
  #seq: number;
  #epoch: number;
  #cut = false;
  goodBytes: number;
  tail: Buffer = NOTHING;
  /** Where the next piece begins. */
  at: number;

  constructor(
    pieces: LogPieces,
    size: number,
    { offset, seq, epoch }: ReadFrom,
    take: (heads: readonly EventHead[]) => void,
  ) {
    this.#pieces = pieces;
    this.#size = size;
    this.#take = take;
    this.#seq = seq;
    this.#epoch = epoch;
    this.goodBytes = offset;
    this.at = offset;
  }

  get done(): boolean {
    return this.#cut || this.at >= this.#size;
  }

  /** A buffer that begins with the unfinished line. The last one holds all that a crash can have left unfinished. */
  next(piece: number): { readonly bytes: Buffer<ArrayBuffer>; readonly used: number } {
    const { tail } = this;
    const left = this.#size - this.at;
    // A line that is longer than a piece doubles the next one, so it is not copied again and again.
    const wanted = Math.max(piece, tail.length);
    const bytes = Buffer.allocUnsafeSlow(tail.length + (left <= wanted + LAST_WRITE_BYTES ? left : wanted));
    tail.copy(bytes);
    return { bytes, used: tail.length };
  }

  take(bytes: Buffer, used: number, bytesRead: number): void {
    this.#cut = bytesRead === 0; // the file was cut meanwhile
    this.at += bytesRead;
    const from = { offset: this.goodBytes, seq: this.#seq, epoch: this.#epoch };
    const whole = bytes.subarray(0, used + bytesRead);
    const { heads, goodBytes } = this.#pieces.add(whole, from, this.#size - this.at);
    this.goodBytes += goodBytes;
    this.#seq += heads.length;
    this.#epoch = heads.at(-1)?.epoch ?? this.#epoch;
    this.tail = whole.subarray(goodBytes);
    this.#pieces.assertFits(this.#seq, this.goodBytes, this.tail.length);
    this.#take(heads);
  }
}

export class LogPieces implements LineSource {
  readonly #path: string;
  readonly #session: string;
  readonly #sizes: PieceSizes;
  readonly #pieces: Piece[] = [];
  #kept = 0;
  /** The oldest piece that is in memory. */
  #firstKept = 0;
  /** The piece of the line that was last asked for: lines are mostly read in order. */
  #found: Piece | undefined;
  readonly #line = new LineInBuffer(NOTHING);
  /** The piece that was last read again. */
  #again: Piece | undefined;
  #room: Buffer = NOTHING;

  constructor(path: string, session: string, sizes: PieceSizes = SIZES) {
    this.#path = path;
    this.#session = session;
    this.#sizes = sizes;
  }

  get keeps(): boolean {
    return this.#firstKept === 0;
  }

  /** Reads the file up to `size`. Resolves to where its last complete line ends, and the bytes behind it. */
  async load(
    file: number,
    size: number,
    from: ReadFrom,
    take: (heads: readonly EventHead[]) => void,
  ): Promise<LoadedLines> {
    const reading = new Reading(this, size, from, take);
    while (!reading.done) {
      const { bytes, used } = reading.next(this.#sizes.piece);
      const { bytesRead } = await readPiece(file, bytes, used, bytes.length - used, reading.at);
      reading.take(bytes, used, bytesRead);
    }
    return reading;
  }

  /** The same without leaving the event loop. */
  loadNow(
    file: number,
    size: number,
    from: ReadFrom,
    take: (heads: readonly EventHead[]) => void,
  ): LoadedLines {
    const reading = new Reading(this, size, from, take);
    while (!reading.done) {
      const { bytes, used } = reading.next(this.#sizes.piece);
      reading.take(bytes, used, readSync(file, bytes, used, bytes.length - used, reading.at));
    }
    return reading;
  }

  /** Verifies the lines of `bytes`, which begin at `from`, and keeps them. */
  add(bytes: Buffer, { offset, seq, epoch }: ReadFrom, bytesAfter = 0): ScannedHeads {
    const scanned = scanHeads(
      bytes,
      { offset, firstSeq: seq, lowestEpoch: epoch, session: this.#session },
      this,
      bytesAfter,
    );
    if (scanned.goodBytes > 0) this.#keep(offset, bytes.subarray(0, scanned.goodBytes));
    return scanned;
  }

  text(start: number, end: number, seq: number): string {
    const { bytes, at } = this.#bytesOf(start, end, seq);
    return textOfLine(bytes, at, at + end - start);
  }

  bytes(start: number, end: number, seq: number): LineInBuffer {
    const { bytes, at } = this.#bytesOf(start, end, seq);
    return this.#line.at(bytes, at, at + end - start);
  }

  /** The verified line, and where it begins. */
  #bytesOf(start: number, end: number, seq: number): { readonly bytes: Buffer; readonly at: number } {
    const piece = this.#pieceAt(start);
    const at = start - (piece?.start ?? 0);
    if (piece?.bytes !== undefined) return { bytes: piece.bytes, at };
    const again = piece === undefined ? undefined : this.#readAgain(piece);
    if (again !== undefined && isWhole(again, at, at + end - start)) return { bytes: again, at };
    throw codedError(
      "log_replaced",
      `event ${seq} of session "${this.#session}" is no longer in ${this.#path}. Open the session again`,
    );
  }

  /** Called after each piece, so that no file takes more memory than there is. */
  assertFits(events: number, goodBytes: number, tail: number): void {
    assertFits(events, this.#sizes.events, this.#session);
    if (tail <= this.#sizes.line) return;
    const problem = "it goes on without a line break for longer than any event";
    throw damagedLog({ line: events + 1, byte: goodBytes, problem, salvageable: events > 0 }, this.#session);
  }

  damaged(start: number, seq: number, error: unknown): Error {
    if (isThroughlineError(error) && error.code === "log_replaced") return error;
    const damage = { line: seq + 1, byte: start, problem: messageOf(error), salvageable: true };
    return damagedLog(damage, this.#session, error);
  }

  #keep(start: number, bytes: Buffer): void {
    this.#pieces.push({ start, length: bytes.length, bytes });
    this.#kept += bytes.length;
    while (this.#kept > this.#sizes.kept && this.#firstKept < this.#pieces.length - 1) {
      const oldest = this.#pieces[this.#firstKept] as Piece;
      oldest.bytes = undefined;
      this.#kept -= oldest.length;
      this.#firstKept += 1;
    }
  }

  #pieceAt(offset: number): Piece | undefined {
    const before = this.#found;
    if (before !== undefined && offset >= before.start && offset < before.start + before.length)
      return before;
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#pieces[middle] as Piece).start <= offset) low = middle;
      else high = middle - 1;
    }
    this.#found = this.#pieces[low];
    return this.#found;
  }

  /** One piece at a time stays: events are mostly read in order. */
  #readAgain({ start, length }: Piece): Buffer | undefined {
    if (this.#again?.start === start) return this.#again.bytes;
    const file = openRegular(this.#path, constants.O_RDONLY);
    if (file === undefined) return undefined;
    try {
      if (fstatSync(file).size < start + length) return undefined;
      // Over the one before: a new buffer for every piece would make V8 collect garbage all the time.
      if (this.#room.length < length) this.#room = Buffer.allocUnsafeSlow(length);
      this.#again = undefined;
      const bytes = this.#room.subarray(0, length);
      for (let done = 0; done < length;) {
        const count = readSync(file, bytes, done, length - done, start + done);
        if (count === 0) return undefined;
        done += count;
      }
      this.#again = { start, length, bytes };
      return bytes;
    } finally {
      closeSync(file);
    }
  }
}
