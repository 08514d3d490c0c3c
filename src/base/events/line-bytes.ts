/** Looks at the bytes of a line without decoding it: a text of every line would cost more than everything else here. */

/** The bytes of a line in what was read of its file. Valid until the next line is asked for. */
export interface LineBytes {
  readonly bytes: Uint8Array;
  /** Where the line begins. */
  readonly start: number;
  /** Where its last field ends and its checksum begins. */
  readonly end: number;
  /** A part of the bytes as text. */
  text(from: number, to: number): string;
  /** Where the line has these bytes, from there on; -1 if it has not. */
  find(wanted: Uint8Array, from: number): number;
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

export function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index += 1)
    if (bytes[at + index] !== expected[index]) return false;
  return true;
}

/** Whether the same bytes stand at both places. */
export function isSame(
  bytes: Uint8Array,
  at: number,
  other: Uint8Array,
  from: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== other[from + index]) return false;
  return true;
}

/** The next quote. A loop is faster than a search for the short texts that most fields are. */
export function nextQuote(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(from + NEAR, end);
  for (let at = from; at < near; at += 1) if (bytes[at] === QUOTE) return at;
  return near === end ? -1 : bytes.indexOf(QUOTE, near);
}

const NEAR = 96;

/** `from` is behind an opening quote; the result is the place of the closing one, or -1 if there is none before `end`. */
export function quoteAfter(bytes: Uint8Array, from: number, end: number): number {
  let quote = nextQuote(bytes, from, end);
  while (quote !== -1 && quote < end) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    quote = nextQuote(bytes, quote + 1, end);
  }
  return -1;
}

export function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at += 1;
  return at;
}

/** A whole number of at most nine digits, or -1. */
export function numberIn(bytes: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > 9) return -1;
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + (bytes[at] as number) - 0x30;
  return value;
}

/** A field of a line: the places of its key inside the quotes, and of its value. */
export interface FieldPlaces {
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

/**
 * Finds the field that begins with the comma at `at`. False for anything that is not written as this version writes a
 * text, a number, a flag or an object of those.
 */
export function fieldAt(bytes: Uint8Array, at: number, end: number, found: FieldPlaces): boolean {
  if (bytes[at] !== COMMA || bytes[at + 1] !== QUOTE) return false;
  const keyEnd = nextQuote(bytes, at + 2, end);
  if (keyEnd === -1 || keyEnd >= end || bytes[keyEnd + 1] !== COLON) return false;
  const valueStart = keyEnd + 2;
  const valueEnd = endOfSimple(bytes, valueStart, end);
  if (valueEnd === -1) return false;
  found.keyStart = at + 2;
  found.keyEnd = keyEnd;
  found.valueStart = valueStart;
  found.valueEnd = valueEnd;
  return true;
}

function endOfSimple(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) {
    const quote = quoteAfter(bytes, start + 1, end);
    return quote === -1 ? -1 : quote + 1;
  }
  if (first === OPEN_BRACKET) return -1;
  if (first === OPEN_BRACE) {
    // A brace in one of its texts would leave something behind it that is not a field.
    for (let at = start; at < end; at += 1) if (bytes[at] === CLOSE_BRACE) return at + 1;
    return -1;
  }
  let at = start;
  while (at < end && bytes[at] !== COMMA) at += 1;
  return at;
}

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
