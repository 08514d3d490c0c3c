/**
 * Decodes server-sent events from bytes, as WHATWG specifies but a little more tolerant: LF, CRLF or CR, a byte order
 * mark, comments, no space after the colon, any split of the bytes. Lines, events and lines per event are bounded.
 *
 * Not taken from a package, because payloads are kept as exact text, the limits are part of our promises, and this is
 * measurably cheaper (docs/adr/0003).
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

import { StringDecoder } from "node:string_decoder";

import { codedError, type Given, type ThroughlineError, withDefaults } from "../../base/support/index.ts";

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

/** UTF-8 needs at most this many bytes per UTF-16 code unit, so text that is short enough need not be measured. */
const MAX_UTF8_PER_UNIT = 3;

const COLON = 0x3a;
const SPACE = 0x20;

export class SseDecoder {
  readonly #limits: SseLimits;
  /** Decodes once per chunk and slices the text: a native call for each of an event's three lines would cost more. */
  readonly #decoder = new StringDecoder("utf8");
  /** Parts of the unfinished line. A list, because joining per chunk would be quadratic in the line's length. */
  #pieces: string[] = [];
  #pieceBytes = 0;
  /** The last chunk ended with CR: an LF at the start of the next one belongs to it. */
  #skipLf = false;
  #atStart = true;
  #event = "";
  #data: string | undefined;
  /** Further data lines of one event; rare. */
  #moreData: string[] = [];
  /** An upper bound until that could exceed the limit; from then on the exact count. */
  #eventBytes = 0;
  #counted = false;
  #eventLines = 0;

  constructor(limits: Given<SseLimits> = {}) {
    this.#limits = withDefaults(DEFAULT_LIMITS, limits);
  }

  /** Returns the frames that this chunk completes. */
  feed(chunk: Uint8Array): readonly SseFrame[] {
    const frames: SseFrame[] = [];
    const text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (text === "") {
      this.#pieceBytes += chunk.byteLength; // the first bytes of a character
      return frames;
    }
    let at = this.#skipLf && text.startsWith("\n") ? 1 : 0;
    this.#skipLf = false;
    let nextCr = text.indexOf("\r", at);
    let nextLf = text.indexOf("\n", at);
    while (at < text.length) {
      const end = earlier(nextLf, nextCr);
      if (end === -1) {
        // No line ends in the rest, so the last line end in the bytes is the one before it.
        const before = at === 0 ? -1 : chunk.lastIndexOf(text.charCodeAt(at - 1));
        this.#keep(text.slice(at), chunk.byteLength - before - 1);
        break;
      }
      if (this.#pieces.length === 0) this.#line(text, at, end, frames);
      else {
        const line = this.#complete(text.slice(at, end));
        this.#line(line, 0, line.length, frames);
      }
      this.#pieceBytes = 0;
      at = end + 1;
      if (end === nextCr) {
        if (at === text.length) this.#skipLf = true;
        else if (text.startsWith("\n", at)) at += 1;
        nextCr = text.indexOf("\r", at);
      }
      if (nextLf !== -1 && nextLf < at) nextLf = text.indexOf("\n", at);
    }
    return frames;
  }

  #keep(piece: string, bytes: number): void {
    this.#pieces.push(piece);
    this.#pieceBytes += bytes;
    if (this.#pieceBytes > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);
  }

  #complete(last: string): string {
    this.#pieces.push(last);
    const line = this.#pieces.join("");
    this.#pieces = [];
    return line;
  }

  #line(text: string, from: number, end: number, frames: SseFrame[]): void {
    const start = this.#atStart && text.startsWith("\uFEFF", from) ? from + 1 : from;
    this.#atStart = false;
    const { maxLineBytes } = this.#limits;
    const mayBeTooLong = (end - start) * MAX_UTF8_PER_UNIT > maxLineBytes;
    if (mayBeTooLong && Buffer.byteLength(text.slice(start, end)) > maxLineBytes)
      throw tooLong("a line", maxLineBytes);
    if (start === end) this.#dispatch(frames);
    else if (isField("data", text, start, end)) this.#addData(text, valueAt(start + 4, text, end), end);
    else if (isField("event", text, start, end)) this.#event = text.slice(valueAt(start + 5, text, end), end);
  }

  #addData(text: string, start: number, end: number): void {
    const data = text.slice(start, end);
    this.#countBytes(data);
    this.#eventLines += 1;
    if (this.#eventLines > this.#limits.maxEventLines)
      throw tooLong("an event", this.#limits.maxEventLines, "lines");
    if (this.#data === undefined) this.#data = data;
    else this.#moreData.push(data);
  }

  #countBytes(data: string): void {
    const { maxEventBytes } = this.#limits;
    this.#eventBytes += this.#counted ? Buffer.byteLength(data) : data.length * MAX_UTF8_PER_UNIT;
    if (this.#eventBytes <= maxEventBytes) return;
    if (!this.#counted) {
      this.#counted = true;
      this.#eventBytes = Buffer.byteLength([this.#data ?? "", ...this.#moreData, data].join(""));
    }
    if (this.#eventBytes > maxEventBytes) throw tooLong("an event", maxEventBytes);
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
    this.#counted = false;
    this.#eventLines = 0;
  }
}

function earlier(a: number, b: number): number {
  if (a === -1) return b;
  return b === -1 ? a : Math.min(a, b);
}

/** The name ends at a colon or at the end of the line. */
function isField(name: string, text: string, start: number, end: number): boolean {
  const nameEnd = start + name.length;
  if (!text.startsWith(name, start) || nameEnd > end) return false;
  return nameEnd === end || text.charCodeAt(nameEnd) === COLON;
}

/** The position after the colon, and after one space if there is one. */
function valueAt(nameEnd: number, text: string, end: number): number {
  const value = Math.min(end, nameEnd + 1);
  return value < end && text.charCodeAt(value) === SPACE ? value + 1 : value;
}

function tooLong(what: string, limit: number, unit = "bytes"): ThroughlineError {
  return codedError(
    "stream_limit",
    `the stream was stopped: it contains ${what} longer than ${limit} ${unit}`,
  );
}
