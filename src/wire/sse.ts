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
  #data: string[] = [];
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
      this.#line(this.#complete(bytes.subarray(at, end)), frames);
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
    if (this.#pieces.length === 0) return last;
    const line = Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#pieceBytes = 0;
    return line;
  }

  #line(raw: Buffer, frames: SseFrame[]): void {
    const line = this.#atStart ? withoutByteOrderMark(raw) : raw;
    this.#atStart = false;
    if (line.length > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);
    if (line.length === 0) {
      this.#dispatch(frames);
      return;
    }
    const colon = line.indexOf(COLON);
    if (colon === 0) return; // a comment
    const field = line.toString("latin1", 0, colon === -1 ? line.length : colon);
    let valueStart = colon === -1 ? line.length : colon + 1;
    if (line[valueStart] === SPACE) valueStart += 1;
    if (field === "data") this.#addData(line, valueStart);
    else if (field === "event") this.#event = line.toString("utf8", valueStart);
  }

  #addData(line: Buffer, valueStart: number): void {
    this.#eventBytes += line.length - valueStart;
    this.#eventLines += 1;
    if (this.#eventBytes > this.#limits.maxEventBytes) throw tooLong("an event", this.#limits.maxEventBytes);
    if (this.#eventLines > this.#limits.maxEventLines)
      throw tooLong("an event", this.#limits.maxEventLines, "lines");
    this.#data.push(line.toString("utf8", valueStart));
  }

  #dispatch(frames: SseFrame[]): void {
    if (this.#data.length > 0) {
      frames.push({
        event: this.#event,
        data: this.#data.length === 1 ? (this.#data[0] ?? "") : this.#data.join("\n"),
      });
      this.#data = [];
    }
    this.#event = "";
    this.#eventBytes = 0;
    this.#eventLines = 0;
  }
}

function earlier(a: number, b: number): number {
  if (a === -1) return b;
  return b === -1 ? a : Math.min(a, b);
}

function withoutByteOrderMark(line: Buffer): Buffer {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}

function tooLong(what: string, limit: number, unit = "bytes"): ThroughlineError {
  return new ThroughlineError({
    code: "stream_limit",
    message: `the stream was stopped: ${what} of it is longer than ${limit} ${unit}`,
  });
}
