/**
 * The body of a request, cut into elements without changing a byte. Bytes are held as text with one character a byte
 * ("wire text"): JSON's structure is ASCII, so it can be cut up as text and still goes on byte for byte, whatever its
 * strings hold.
 */

import type { Dialect } from "../../base/events/index.ts";
import { elementSpans, isObject, type JsonObject, memberSpan, type Span } from "../../base/support/index.ts";

export interface Body {
  readonly dialect: Dialect;
  /** Wire text. */
  readonly text: string;
  /** The parsed request without its history. */
  readonly head: JsonObject;
  /** The parsed elements of `input` or `messages`. */
  readonly values: readonly unknown[];
  /** Where they are in the text. Empty if `input` is a string. */
  readonly spans: readonly Span[];
}

/** The member that holds the history. */
export function listKey(dialect: Dialect): "input" | "messages" {
  return dialect === "openai-responses" ? "input" : "messages";
}

export function toWire(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

export function fromWire(wire: string): string {
  return isAscii(wire) ? wire : Buffer.from(wire, "latin1").toString("utf8");
}

export function wireBytes(wire: string): Buffer {
  return Buffer.from(wire, "latin1");
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- ASCII is meant
  return !/[^\u0000-\u007f]/.test(text);
}

/** Undefined if the body is not a request with a history. */
export function openWire(dialect: Dialect, text: string): Body | undefined {
  const value = parsed(fromWire(text));
  if (!isObject(value)) return undefined;
  const key = listKey(dialect);
  const { [key]: list, ...head } = value;
  if (typeof list === "string" && key === "input") return { dialect, text, head, values: [list], spans: [] };
  if (list === undefined && key === "input") return { dialect, text, head, values: [], spans: [] };
  const span = Array.isArray(list) ? memberSpan(text, key) : undefined;
  if (span === undefined || !Array.isArray(list)) return undefined;
  const spans = elementSpans(text, span.start);
  return spans.length === list.length ? { dialect, text, head, values: list, spans } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A request up to its last element, which the next request of the same conversation begins with. */
export interface Beginning {
  readonly dialect: Dialect;
  /** Up to the end of the last element. */
  readonly bytes: Buffer;
  /** The parsed members before the history. */
  readonly front: JsonObject;
  readonly spans: readonly Span[];
}

/** Undefined if there is nothing to begin with. */
export function beginningOf({ dialect, spans }: Body, bytes: Buffer): Beginning | undefined {
  const last = spans.at(-1);
  const [first] = spans;
  const start = first === undefined ? -1 : bytes.lastIndexOf("[", first.start - 1);
  if (last === undefined || start === -1) return undefined;
  const front = parsed(`${bytes.toString("utf8", 0, start)}[]}`);
  return isObject(front) ? { dialect, bytes: bytes.subarray(0, last.end), front, spans } : undefined;
}

export function beginsWith(bytes: Buffer, beginning: Beginning): boolean {
  const { length } = beginning.bytes;
  return bytes.length > length && bytes.compare(beginning.bytes, 0, length, 0, length) === 0;
}

export interface Continued {
  readonly body: Body;
  /** The parsed elements that are new. */
  readonly added: readonly unknown[];
}

/** Opens a request that begins like this: only the rest is parsed. Undefined if it does not go on from there. */
export function openAfter(beginning: Beginning, bytes: Buffer): Continued | undefined {
  const { dialect, front, spans } = beginning;
  const cut = beginning.bytes.length;
  const key = listKey(dialect);
  const rest = bytes.toString("latin1", cut);
  const value = parsed(fromWire(`{${JSON.stringify(key)}:[null${rest}`));
  if (!isObject(value)) return undefined;
  const { [key]: list, ...back } = value;
  const [, ...more] = elementSpans(`[null${rest}`, 0);
  if (!Array.isArray(list) || list.length !== more.length + 1) return undefined;
  const moved = more.map(({ start, end }) => ({ start: start + cut - SHIFT, end: end + cut - SHIFT }));
  const { [key]: _front, ...head } = { ...front, ...back };
  return { body: new LazyBody(dialect, bytes, head, [...spans, ...moved]), added: list.slice(1) };
}

/** The length of what stands in for the known elements. */
const SHIFT = "[null".length;

/** Its text and elements are made only if somebody asks for them: to put something back, or after a refusal. */
class LazyBody implements Body {
  readonly dialect: Dialect;
  readonly head: JsonObject;
  readonly spans: readonly Span[];
  readonly #bytes: Buffer;
  #text: string | undefined;
  #values: readonly unknown[] | undefined;

  constructor(dialect: Dialect, bytes: Buffer, head: JsonObject, spans: readonly Span[]) {
    this.dialect = dialect;
    this.head = head;
    this.spans = spans;
    this.#bytes = bytes;
  }

  get text(): string {
    this.#text ??= this.#bytes.toString("latin1");
    return this.#text;
  }

  get values(): readonly unknown[] {
    this.#values ??= this.spans.map(({ start, end }) => parsed(this.#bytes.toString("utf8", start, end)));
    return this.#values;
  }
}

export function elementText({ text, spans }: Body, index: number): string {
  const span = spans[index];
  return span === undefined ? "" : text.slice(span.start, span.end);
}

/** A change of the elements of a body, all texts as wire text. */
export interface ElementEdits {
  /** New texts of elements. */
  readonly changed: ReadonlyMap<number, string>;
  /** New elements, each list before the element with that index. */
  readonly before: ReadonlyMap<number, readonly string[]>;
}

/** Everything but the changed elements keeps its bytes. */
export function withEdits(body: Body, { changed, before }: ElementEdits): string {
  const pieces: string[] = [];
  let done = 0;
  for (const [index, { start, end }] of body.spans.entries()) {
    const added = before.get(index) ?? [];
    const text = changed.get(index);
    if (added.length === 0 && text === undefined) continue;
    pieces.push(
      body.text.slice(done, start),
      ...added.map((one) => `${one},`),
      text ?? body.text.slice(start, end),
    );
    done = end;
  }
  return pieces.length === 0 ? body.text : pieces.join("") + body.text.slice(done);
}

/** The same request with these elements. What stands around the list keeps its bytes. */
export function withElements({ text, spans }: Body, elements: readonly string[]): string {
  const [first] = spans;
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return text;
  return `${text.slice(0, first.start)}${elements.join(",")}${text.slice(last.end)}`;
}
