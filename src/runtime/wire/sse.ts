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

import {
  codedError,
  type Given,
  stayCompiled,
  type ThroughlineError,
  withDefaults,
} from "../../base/support/index.ts";

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

const NONE: readonly SseFrame[] = [];

export class SseDecoder {
  readonly #limits: SseLimits;
  /** Decodes once per chunk and splits the text: a native call for each of an event's three lines would cost more. */
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
    const text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (text === "") return NONE; // the first bytes of a character
    const lines = this.#normal(text).split("\n");
    const rest = lines.pop() ?? "";
    const frames: SseFrame[] = [];
    if (lines.length > 0 && this.#pieces.length > 0) lines[0] = this.#complete(lines[0] ?? "");
    for (const line of lines) this.#line(line, frames);
    if (rest !== "") this.#keep(rest);
    return frames;
  }

  /** Without the byte order mark, and with LF at the end of every line. */
  #normal(text: string): string {
    const skipped = (this.#skipLf && text.startsWith("\n")) || (this.#atStart && text.startsWith("\uFEFF"));
    const own = skipped ? text.slice(1) : text;
    this.#atStart = false;
    this.#skipLf = false;
    if (!own.includes("\r")) return own;
    this.#skipLf = own.endsWith("\r");
    return own.replaceAll(/\r\n?/g, "\n");
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#pieceBytes += Buffer.byteLength(piece);
    if (this.#pieceBytes > this.#limits.maxLineBytes) throw tooLong("a line", this.#limits.maxLineBytes);
  }

  #complete(last: string): string {
    this.#pieces.push(last);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#pieceBytes = 0;
    return line;
  }

  #line(line: string, frames: SseFrame[]): void {
    if (line === "") {
      this.#dispatch(frames);
      return;
    }
    const { maxLineBytes } = this.#limits;
    if (line.length * MAX_UTF8_PER_UNIT > maxLineBytes && Buffer.byteLength(line) > maxLineBytes)
      throw tooLong("a line", maxLineBytes);
    if (line.startsWith("data")) {
      const data = valueOf(line, 4);
      if (data !== undefined) this.#addData(data);
    } else if (line.startsWith("event")) this.#event = valueOf(line, 5) ?? this.#event;
  }

  #addData(data: string): void {
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

stayCompiled(new SseDecoder());

/**
 * The value of a line's field, without one space at its start. The name ends at a colon or at the end of the line: with
 * anything else after it, the field is another one.
 */
function valueOf(line: string, nameEnd: number): string | undefined {
  if (line.startsWith(": ", nameEnd)) return line.slice(nameEnd + 2);
  if (line.startsWith(":", nameEnd)) return line.slice(nameEnd + 1);
  return line.length === nameEnd ? "" : undefined;
}

function tooLong(what: string, limit: number, unit = "bytes"): ThroughlineError {
  return codedError(
    "stream_limit",
    `the stream was stopped: it contains ${what} longer than ${limit} ${unit}`,
  );
}
