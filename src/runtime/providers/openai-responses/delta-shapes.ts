/**
 * Reads deltas without a JSON parser. The deltas of a stream differ only in their strings and numbers, so the first one
 * of a type, which was parsed, shows what the others look like: its text, with a place for each string and number that
 * changes, becomes a pattern. What the pattern matches is valid JSON with the same members, and means what a parser
 * would have read. Anything else is parsed.
 */

import {
  type JsonObject,
  memberSpan,
  numberOf,
  sliceObject,
  type Span,
  stayCompiled,
  tryParseJson,
} from "../../../base/support/index.ts";
import type { TextSource } from "./text-events.ts";

/** An event that carries text, or all that matters of it. */
export interface ReadText {
  readonly source: TextSource;
  readonly outputIndex: number;
  readonly part: number;
  readonly text: string;
}

interface Shape {
  readonly source: TextSource;
  readonly pattern: RegExp;
  /** The group of the pattern that has the value. Without one, the value is the same in every event. */
  readonly textGroup: number;
  readonly indexGroup: number | undefined;
  readonly partGroup: number | undefined;
  readonly outputIndex: number;
  readonly part: number;
}

/** A delta is short. A pattern that fails goes back over the text, so none is tried on a long one. */
const LONGEST_EVENT = 4096;

/** Each stream has a few types of deltas, and servers that are used side by side have few ways to write them. */
const MAX_KNOWN = 16;

/** What a stream may add: a server that writes each delta in another way is not worth a pattern each time. */
const MAX_LEARNED = 16;

/** V8 copies a shorter slice. A longer one would keep its whole chunk in memory. */
const COPIED_BELOW = 13;

/** What a JSON string contains as it is: no quote, no backslash, no control character. */
const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
/** With escapes: whether these are valid shows when the string is parsed. */
const ESCAPED = String.raw`${PLAIN}(?:\\.${PLAIN})*`;
/** With few enough digits to be exact. */
const INTEGER = String.raw`(?:0|[1-9]\d{0,14})`;

/** Of all streams, the last used first. They have names of members, and no values. */
const known: Shape[] = [];

export class DeltaShapes {
  /** The one that matched last: deltas of one type follow one another. */
  #current: Shape | undefined;
  #learned = 0;

  /** Returns undefined for an event that must be parsed. */
  read(data: string): ReadText | undefined {
    if (data.length > LONGEST_EVENT) return undefined;
    const found = this.#current === undefined ? null : this.#current.pattern.exec(data);
    if (found === null) return this.#readByOther(data);
    return readBy(this.#current as Shape, found);
  }

  #readByOther(data: string): ReadText | undefined {
    for (const [at, shape] of known.entries()) {
      const found = shape === this.#current ? null : shape.pattern.exec(data);
      if (found === null) continue;
      this.#current = shape;
      known.splice(at, 1);
      known.unshift(shape);
      return readBy(shape, found);
    }
    return undefined;
  }

  /** Takes a delta that had to be parsed. */
  learn(data: string, event: JsonObject, source: TextSource): void {
    if (data.length > LONGEST_EVENT || this.#learned === MAX_LEARNED) return;
    this.#learned += 1;
    const shape = shapeOf(data, event, source);
    if (shape === undefined) return;
    this.#current = shape;
    known.unshift(shape);
    if (known.length > MAX_KNOWN) known.pop();
  }
}

stayCompiled(new DeltaShapes());

function readBy(shape: Shape, found: RegExpExecArray): ReadText | undefined {
  const { source, textGroup, indexGroup, partGroup } = shape;
  const raw = found[textGroup] ?? "";
  const copied = raw.length < COPIED_BELOW && !raw.includes("\\");
  const text = copied ? raw : tryParseJson(`"${raw}"`);
  if (typeof text !== "string") return undefined;
  return {
    source,
    outputIndex: indexGroup === undefined ? shape.outputIndex : Number(found[indexGroup]),
    part: partGroup === undefined ? shape.part : Number(found[partGroup]),
    text,
  };
}

function shapeOf(data: string, event: JsonObject, source: TextSource): Shape | undefined {
  const keys = Object.keys(event);
  const isPlain = typeof event[source.field] === "string" && !keys.some((key) => hasContent(event[key]));
  if (!isPlain || sliceObject(data).length !== keys.length) return undefined; // a member is repeated
  const members = keys
    .map((key) => ({ key, ...(memberSpan(data, key) as Span) }))
    .toSorted((a, b) => a.start - b.start);
  let pattern = "^";
  let at = 0;
  const groups = new Map<string, number>();
  for (const { key, start, end } of members) {
    const any = key === "type" ? undefined : anyLike(event[key], key === source.field);
    if (any === undefined) continue;
    const isPlace = any === INTEGER && (key === "output_index" || key === source.part);
    const isRead = isPlace || key === source.field;
    if (isRead) groups.set(key, groups.size + 1);
    const quote = typeof event[key] === "string" ? '"' : "";
    pattern += literal(data.slice(at, start)) + quote + (isRead ? `(${any})` : any) + quote;
    at = end;
  }
  return {
    source,
    pattern: new RegExp(`${pattern}${literal(data.slice(at))}$`),
    textGroup: groups.get(source.field) ?? 0,
    indexGroup: groups.get("output_index"),
    partGroup: groups.get(source.part ?? ""),
    outputIndex: numberOf(event["output_index"]) ?? 0,
    part: source.part === undefined ? 0 : (numberOf(event[source.part]) ?? 0),
  };
}

/** Arrays and objects with content differ from event to event. */
function hasContent(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A pattern for every value of the same kind, or undefined for a value that must stay the same. */
function anyLike(value: unknown, escaped: boolean): string | undefined {
  if (typeof value === "string") return escaped ? ESCAPED : PLAIN;
  return Number.isSafeInteger(value) && !Object.is(value, -0) && (value as number) >= 0 ? INTEGER : undefined;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
