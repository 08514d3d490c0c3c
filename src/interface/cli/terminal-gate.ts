/**
 * The last gate before a terminal. Everything the process writes to one passes through here, including the help of the
 * argument parser and the output of a tools file. Text is made inert; only sequences that the program marks as its own
 * take effect.
 *
 * `own` marks a style or a movement with a number that is random for each run. Text cannot know that number, so nothing
 * read from a log, a model or a file can pass as one of our styles. A pipe or a file gets the bytes unchanged.
 */

import { randomInt } from "node:crypto";
import { StringDecoder } from "node:string_decoder";

import { inertFrom } from "../../base/support/index.ts";

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };
type Write = (data: string | Uint8Array, ...more: readonly unknown[]) => boolean;

const RUN = String(randomInt(1e9, 1e12));
/** Has the form of a style, so that code that measures a line gives it no width. */
const OWN = new RegExp(String.raw`\u001B\[${RUN};(\d+)m`, "g");
const CLEAR_LINE = 999;

/** Returns a style by its number, marked for this run. */
export function own(style: number): string {
  return `\u001B[${RUN};${style}m`;
}

/** Returns to the start of the line and clears it, to rewrite the line. */
export const clearLine = own(CLEAR_LINE);

const direct = new WeakMap<object, Write>();

/** Puts the gate in front of a stream of this process, once. */
export function guard(stream: Stream): void {
  if (direct.has(stream)) return;
  const write = (stream.write as Write).bind(stream);
  direct.set(stream, write);
  const gated = stream.isTTY === true ? gate(write, undefined) : forProgram(write);
  Object.assign(stream, { write: gated });
}

/** Bypasses the gate, for the full interface, which makes each row inert itself and moves the cursor. */
export function directly(stream: Stream): Write {
  // A stream may be made from a guarded one, for example to wrap its lines. Its own write leads to the gate.
  for (let one: object | null = stream; one !== null; one = Object.getPrototypeOf(one) as object | null) {
    const write = direct.get(one);
    if (write !== undefined) return write;
  }
  return (...args) => (stream.write as Write)(...args);
}

// oxlint-disable-next-line no-control-regex -- what Node's line editor writes to move the cursor and clear the line
const MOVES = /\u001B\[\d*(?:;\d+)?[ABCDGHJK]|\r/g;

/** For Node's line editor: only its cursor movements pass. Its questions must already be inert. */
export function forLineEditor(stream: Stream): Stream {
  if (stream.isTTY !== true) return stream;
  return Object.assign(Object.create(stream) as Stream, { write: gate(directly(stream), MOVES) });
}

function forProgram(write: Write): Write {
  return (data, ...more) => write(typeof data === "string" ? data.replaceAll(OWN, asStyle) : data, ...more);
}

function asStyle(_all: string, style: string): string {
  return Number(style) === CLEAR_LINE ? "\r\u001B[K" : `\u001B[${style}m`;
}

/** The longest run of marks and joiners that affects the next character. */
const CONTEXT = 32;
/** Text that may be incomplete: half a character, half a line break, or an emoji joined to the next. */
const UNDECIDED = /(?:[\uD800-\uDBFF]|\r|[\u200C\u200D]|(?<=[#*0-9])\uFE0F)$/;

function gate(write: Write, moves: RegExp | undefined): Write {
  const decoder = new StringDecoder("utf8");
  let before = "";
  let held = "";
  const shown = (text: string): string => {
    const all = before + text;
    const safe = inertFrom(all, before.length);
    before = all.slice(-CONTEXT);
    return safe;
  };
  return (data, ...more) => {
    const given = held + (typeof data === "string" ? data : decoder.write(Buffer.from(data)));
    held = moves === undefined ? (UNDECIDED.exec(given)?.[0] ?? "") : "";
    const text = given.slice(0, given.length - held.length).replaceAll("\r\n", "\n");
    const allowed = moves ?? OWN;
    let out = "";
    let from = 0;
    for (const found of text.matchAll(allowed)) {
      out += shown(text.slice(from, found.index));
      out += moves === undefined ? asStyle("", found[1] ?? "0") : found[0];
      from = found.index + found[0].length;
    }
    out += shown(text.slice(from));
    return write(out, ...more);
  };
}
