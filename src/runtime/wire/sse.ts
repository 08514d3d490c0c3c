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

const COLON = 0x3a;
const SPACE = 0x20;

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

  constructor(limits: Given<SseLimits> = {}) {
    this.#limits = withDefaults(DEFAULT_LIMITS, limits);
  }

  /** Returns the frames that this chunk completes. */
  feed(chunk: Uint8Array): readonly SseFrame[] {
    const text = this.#decoder.write(chunk);
    if (text === "") return NONE; // the first bytes of a character
    const lines = this.#normal(text).split("\n");
    const rest = lines.pop() ?? "";
    const frames: SseFrame[] = [];
    if (lines.length > 0 && this.#pieces.length > 0) lines[0] = this.#complete(lines[0] ?? "");
    this.#take(lines, frames);
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

  /** One loop that calls little: V8 compiles every function that runs once per line, and that costs more than it does. */
  #take(lines: readonly string[], frames: SseFrame[]): void {
    const { maxLineBytes, maxEventBytes } = this.#limits;
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at] as string;
      if (line.length * MAX_UTF8_PER_UNIT > maxLineBytes) this.#checkLine(line);
      if (line === "") {
        if (this.#data !== undefined) frames.push({ event: this.#event, data: this.#wholeData(this.#data) });
        this.#event = "";
        this.#data = undefined;
        this.#eventBytes = 0;
      } else if (line.startsWith("data")) {
        const start = valueStart(line, 4);
        if (start === -1) continue;
        const data = line.slice(start);
        if (this.#data === undefined) this.#data = data;
        else this.#addLine(data);
        this.#eventBytes += data.length * MAX_UTF8_PER_UNIT;
        if (this.#eventBytes > maxEventBytes) this.#checkEvent(data);
      } else if (line.startsWith("event")) {
        const start = valueStart(line, 5);
        if (start !== -1) this.#event = line.slice(start);
      }
    }
  }

  #checkLine(line: string): void {
    const { maxLineBytes } = this.#limits;
    if (Buffer.byteLength(line) > maxLineBytes) throw tooLong("a line", maxLineBytes);
  }

  #addLine(data: string): void {
    this.#moreData.push(data);
    const { maxEventLines } = this.#limits;
    if (this.#moreData.length >= maxEventLines) throw tooLong("an event", maxEventLines, "lines");
  }

  /** The bound of the event's bytes is too high: replaces it with the count, from now on line by line. */
  #checkEvent(last: string): void {
    const { maxEventBytes } = this.#limits;
    if (this.#counted) this.#eventBytes += Buffer.byteLength(last) - last.length * MAX_UTF8_PER_UNIT;
    else this.#eventBytes = Buffer.byteLength([this.#data ?? "", ...this.#moreData].join(""));
    this.#counted = true;
    if (this.#eventBytes > maxEventBytes) throw tooLong("an event", maxEventBytes);
  }

  #wholeData(first: string): string {
    this.#counted = false;
    if (this.#moreData.length === 0) return first;
    const data = [first, ...this.#moreData].join("\n");
    this.#moreData = [];
    return data;
  }
}

stayCompiled(new SseDecoder());

/**
 * Where the value of a line's field begins, or -1 if its name does not end here, at a colon or with the line. One space
 * after the colon is not part of the value.
 */
function valueStart(line: string, nameEnd: number): number {
  if (line.charCodeAt(nameEnd) === COLON) return nameEnd + (line.charCodeAt(nameEnd + 1) === SPACE ? 2 : 1);
  return line.length === nameEnd ? nameEnd : -1;
}

function tooLong(what: string, limit: number, unit = "bytes"): ThroughlineError {
  return codedError(
    "stream_limit",
    `the stream was stopped: it contains ${what} longer than ${limit} ${unit}`,
  );
}
