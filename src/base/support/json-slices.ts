/**
 * Cuts JSON text without parsing it. Provider items are kept and sent back as the exact text received: JSON.parse +
 * JSON.stringify would lose big integers, -0 and key order, and costs 69 copies of a 4 MB payload. Input must be valid
 * JSON (callers have parsed it, or read it from a checksummed line).
 */

/** JSON text that is passed on exactly as received. On one line, with U+2028/2029 escaped: see `toRawJson`. */
export type RawJson = string & { readonly __rawJson: true };

export interface Member {
  readonly key: string;
  /** The value's exact text. */
  readonly value: string;
}

/**
 * Makes JSON text fit a line of a log. Raw line breaks can only occur between tokens, so a space replaces them.
 * U+2028/2029 can only occur inside a string, where the escape means the same character. Everything else is untouched.
 */
export function toRawJson(text: string): RawJson {
  // Searched one by one: a regular expression takes ten times as long on a payload of megabytes.
  const broken = text.includes("\n") || text.includes("\r");
  const oneLine = broken ? text.replaceAll(/[\n\r]+/g, " ") : text;
  return detached(escapeLineSeparators(oneLine)) as RawJson;
}

/**
 * Copies the text, because V8 keeps the string it was cut from alive as long as the slice: an item of 1 KB would hold
 * all 30 KB of its response for the life of the session. Long slices are most of what they were cut from and stay.
 */
function detached(text: string): string {
  return text.length < DETACHED_BELOW ? ` ${text}`.slice(1) : text;
}

const DETACHED_BELOW = 64 * 1024;

export function escapeLineSeparators(text: string): string {
  return /[\u2028\u2029]/.test(text)
    ? text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : text;
}

/** The members of a JSON object in order, values as text. Empty for anything but an object. */
export function sliceObject(text: string): readonly Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return members;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = endOfString(text, at);
    const key = stringIn(text, at, keyEnd);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key, value: text.slice(valueStart, valueEnd) });
    at = skipSpace(text, valueEnd);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return members;
}

/**
 * Where the members of an object are, without copying them: start and end of the key inside its quotes, and of the
 * value, four numbers each. Returns how many there are, or -1 for anything but an object without white space between
 * its members, and if `spans` has too little room.
 */
export function compactMembers(text: string, spans: Int32Array): number {
  if (text.charCodeAt(0) !== OPEN_BRACE) return -1;
  let at = 1;
  for (let count = 0; 4 * count < spans.length; count += 1) {
    if (text.charCodeAt(at) !== QUOTE) return -1;
    const keyEnd = endOfString(text, at);
    if (text.charCodeAt(keyEnd) !== COLON) return -1;
    const valueEnd = endOfValue(text, keyEnd + 1);
    spans[4 * count] = at + 1;
    spans[4 * count + 1] = keyEnd - 1;
    spans[4 * count + 2] = keyEnd + 1;
    spans[4 * count + 3] = valueEnd;
    const next = text.charCodeAt(valueEnd);
    if (next === CLOSE_BRACE) return valueEnd + 1 === text.length ? count + 1 : -1;
    if (next !== COMMA) return -1;
    at = valueEnd + 1;
  }
  return -1;
}

/** The value of a JSON string, or undefined for anything else. */
export function stringValue(text: string): string | undefined {
  return text.charCodeAt(0) === QUOTE ? stringIn(text, 0, text.length) : undefined;
}

/** The content of the quotes, read without a parser unless something in it is escaped. */
function stringIn(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** The elements of a JSON array in order, as text. Empty for anything but an array. */
export function sliceArray(text: string): readonly string[] {
  const elements: string[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACKET) return elements;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return elements;
}

/** Where a value begins and ends in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the value of a member is in the text of its object. With duplicate keys the last one counts. */
export function memberSpan(text: string, key: string): Span | undefined {
  let found: Span | undefined;
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = endOfString(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    if (stringIn(text, at, keyEnd) === key) found = { start, end };
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return found;
}

/** Where the elements of the array are that begins at `from`. Ends with the array, whatever follows it. */
export function elementSpans(text: string, from: number): readonly Span[] {
  const spans: Span[] = [];
  if (text.charCodeAt(from) !== OPEN_BRACKET) return spans;
  let at = skipSpace(text, from + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(text, at);
    spans.push({ start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return spans;
}

/** The exact text of one member's value. With duplicate keys the last one counts, as in JSON.parse. */
export function sliceMember(text: string, key: string): string | undefined {
  return sliceObject(text).findLast((member) => member.key === key)?.value;
}

/**
 * The same JSON with its long strings emptied, for callers that parse everything else: an opaque payload of megabytes
 * costs a copy and a scan, and is never looked into. A string with an escape, or with a character that JSON does not
 * allow there, stays, so validity does not change. Repeated strings (the end of a response repeats every item) are
 * recognized by `seen` and not scanned a second time.
 */
export function withoutLongStrings(text: string, seen: string[] = []): string {
  const pieces: string[] = [];
  let done = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfString(text, at);
    const inner = end - at > LONG_STRING ? text.slice(at + 1, end - 1) : "";
    if (inner !== "" && isPlain(inner, seen)) {
      pieces.push(text.slice(done, at + 1));
      done = end - 1;
    }
    at = end;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(done);
}

const LONG_STRING = 4096;
const SEEN = 16;

function isPlain(inner: string, seen: string[]): boolean {
  if (seen.includes(inner)) return true;
  // Searched one after the other: a regular expression for both takes ten times as long on a payload of megabytes.
  // oxlint-disable-next-line no-control-regex -- these are what JSON does not allow in a string
  if (inner.includes("\\") || /[\u0000-\u001f]/.test(inner)) return false;
  if (seen.length < SEEN) seen.push(inner);
  return true;
}

/** Whether the text is exactly one value, as far as brackets and quotes show. */
export function isOneValue(text: string): boolean {
  return text !== "" && endOfValue(text, 0) === text.length;
}

/** The same text with some of its strings, including keys, changed. Every other byte stays. */
export function mapStrings(text: string, change: (value: string) => string): string {
  const pieces: string[] = [];
  let done = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfString(text, at);
    const value = JSON.parse(text.slice(at, end)) as string;
    const changed = change(value);
    if (changed !== value) {
      pieces.push(text.slice(done, at), escapeLineSeparators(JSON.stringify(changed)));
      done = end;
    }
    at = end;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(done);
}

/** How deep arrays and objects nest. JSON.parse handles a million levels; JSON.stringify and recursion do not. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at) - 1;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) deepest = Math.max(deepest, (depth += 1));
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** `from` is at the opening quote; the result is just past the closing one. */
function endOfString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from);
  const nested = first === OPEN_BRACE || first === OPEN_BRACKET;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at) - 1;
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      if (!nested) return at; // a scalar ends where its container does
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (!nested && (char === COMMA || char <= 0x20)) {
      return at;
    }
  }
  return text.length;
}
