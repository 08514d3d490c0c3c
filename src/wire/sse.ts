/**
 * Server-sent events from bytes, as WHATWG says and a little more tolerant: LF, CRLF or CR, a byte order mark, comments,
 * no space after the colon, any split of the bytes. Bounded: a line, an event and its number of lines have limits.
 *
 * Written here and not taken from a package because the payloads are kept as exact text, the limits are part of our
 * promises, and a byte scanner is measurably cheaper (docs/adr/0003).
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 * @module
 */

import { ThroughlineError } from "../support/index.ts";

export interface SseFrame {
  readonly event: string;
  readonly data: string;
}

export interface SseLimits {
  readonly maxLineBytes: number;
  readonly maxEventBytes: number;
  readonly maxEventLines: number;
}

const DEFAULT_LIMITS: SseLimits = {
  maxLineBytes: 16 * 1024 * 1024,
  maxEventBytes: 16 * 1024 * 1024,
  maxEventLines: 100_000,
};

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;

export class SseDecoder {
  readonly #limits: SseLimits;
  /** Pieces of the line that is not finished. A list: joining per chunk would be quadratic in the line's length. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** The last chunk ended with CR: an LF at the start of the next one belongs to it. */
  #skipLf = false;
  #atStart = true;
  #event = "";
  #data: string | undefined;
  /** Further lines of data of one event; hardly ever there. */
  #moreData: string[] = [];
  #eventBytes = 0;
  #eventLines = 0;

  constructor(limits: Partial<SseLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** The frames that this chunk completes. */
  feed(chunk: Uint8Array): readonly SseFrame[] {
    const frames: SseFrame[] = [];
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    if (this.#skipLf && bytes.length > 0) {
      if (bytes[0] === LF) at = 1;
      this.#skipLf = false;
    }
    let nextCr = bytes.indexOf(CR, at);
    let nextLf = bytes.indexOf(LF, at);
    while (at < bytes.length) {
      const end = earlier(nextLf, nextCr);
      if (end === -1) {
        this.#keep(bytes.subarray(at));
        break;
      }
      if (this.#pieces.length === 0) this.#line(bytes, at, end, frames);
      else {
        const line = this.#complete(bytes.subarray(at, end));
        this.#line(line, 0, line.length, frames);
      }
      at = end + 1;
      if (end === nextCr) {
        if (at === bytes.length) this.#skipLf = true;
        else if (bytes[at] === LF) at += 1;
        nextCr = bytes.indexOf(CR, at);
      }
      if (nextLf !== -1 && nextLf < at) nextLf = bytes.indexOf(LF, at);
    }
    return frames;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);
  }

  #complete(last: Buffer): Buffer {
    const line = Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#pieceBytes = 0;
    return line;
  }

  #line(bytes: Buffer, from: number, end: number, frames: SseFrame[]): void {
    const start = this.#atStart && hasByteOrderMark(bytes, from, end) ? from + 3 : from;
    this.#atStart = false;
    if (end - start > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);
    if (start === end) this.#dispatch(frames);
    else if (isField(DATA, bytes, start, end)) this.#addData(bytes, valueAt(DATA, bytes, start, end), end);
    else if (isField(EVENT, bytes, start, end)) {
      this.#event = bytes.toString("utf8", valueAt(EVENT, bytes, start, end), end);
    }
  }

  #addData(bytes: Buffer, start: number, end: number): void {
    this.#eventBytes += end - start;
    this.#eventLines += 1;
    if (this.#eventBytes > this.#limits.maxEventBytes) throw tooLong("an event", this.#limits.maxEventBytes);
    if (this.#eventLines > this.#limits.maxEventLines)
      throw tooLong("an event", this.#limits.maxEventLines, "lines");
    const text = bytes.toString("utf8", start, end);
    if (this.#data === undefined) this.#data = text;
    else this.#moreData.push(text);
  }

  #dispatch(frames: SseFrame[]): void {
    if (this.#data !== undefined) {
      const data = this.#moreData.length === 0 ? this.#data : [this.#data, ...this.#moreData].join("\n");
      frames.push({ event: this.#event, data });
      this.#data = undefined;
      if (this.#moreData.length > 0) this.#moreData = [];
    }
    this.#event = "";
    this.#eventBytes = 0;
    this.#eventLines = 0;
  }
}

const DATA = Buffer.from("data");
const EVENT = Buffer.from("event");

/** The name ends with a colon or with the line. */
function isField(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const nameEnd = start + name.length;
  if (nameEnd > end || (nameEnd < end && bytes[nameEnd] !== COLON)) return false;
  for (let index = 0; index < name.length; index += 1) {
    if (bytes[start + index] !== name[index]) return false;
  }
  return true;
}

/** Behind the colon, and behind one space if there is one. */
function valueAt(name: Buffer, bytes: Buffer, start: number, end: number): number {
  const value = Math.min(end, start + name.length + 1);
  return value < end && bytes[value] === SPACE ? value + 1 : value;
}

function earlier(a: number, b: number): number {
  if (a === -1) return b;
  return b === -1 ? a : Math.min(a, b);
}

function hasByteOrderMark(bytes: Buffer, start: number, end: number): boolean {
  return end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
}

function tooLong(what: string, limit: number, unit = "bytes"): ThroughlineError {
  return new ThroughlineError({
    code: "stream_limit",
    message: `the stream was stopped: ${what} of it is longer than ${limit} ${unit}`,
  });
}
