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
  readonly type: string;
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

/** A type whose deltas always differ in more than strings and numbers is parsed. */
const MAX_SHAPES_OF_TYPE = 4;

/** V8 copies a shorter slice. A longer one would keep its whole chunk in memory. */
const COPIED_BELOW = 13;

/** What a JSON string contains as it is: no quote, no backslash, no control character. */
const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
/** With escapes: whether these are valid shows when the string is parsed. */
const ESCAPED = String.raw`${PLAIN}(?:\\.${PLAIN})*`;
/** With few enough digits to be exact. */
const INTEGER = String.raw`(?:0|[1-9]\d{0,14})`;

export class DeltaShapes {
  /** The one that matched last is the first: deltas of one type follow one another. */
  readonly #shapes: Shape[] = [];
  readonly #learned = new Map<string, number>();

  /** Returns undefined for an event that must be parsed. */
  read(data: string): ReadText | undefined {
    if (data.length > LONGEST_EVENT) return undefined;
    for (let at = 0; at < this.#shapes.length; at += 1) {
      const shape = this.#shapes[at] as Shape;
      const found = shape.pattern.exec(data);
      if (found === null) continue;
      if (at > 0) this.#shapes.unshift(...this.#shapes.splice(at, 1));
      return readBy(shape, found);
    }
    return undefined;
  }

  /** Takes a delta that had to be parsed. Its shape replaces an earlier one of its type. */
  learn(data: string, event: JsonObject, source: TextSource): void {
    const type = String(event["type"]);
    const learned = this.#learned.get(type) ?? 0;
    if (data.length > LONGEST_EVENT || learned > MAX_SHAPES_OF_TYPE) return;
    this.#learned.set(type, learned + 1);
    const known = this.#shapes.findIndex((shape) => shape.type === type);
    if (known !== -1) this.#shapes.splice(known, 1);
    const shape = learned === MAX_SHAPES_OF_TYPE ? undefined : shapeOf(type, data, event, source);
    if (shape !== undefined) this.#shapes.unshift(shape);
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

function shapeOf(type: string, data: string, event: JsonObject, source: TextSource): Shape | undefined {
  const keys = Object.keys(event);
  if (typeof event[source.field] !== "string" || sliceObject(data).length !== keys.length) return undefined;
  const members = keys
    .map((key) => ({ key, ...(memberSpan(data, key) as Span) }))
    .toSorted((a, b) => a.start - b.start);
  let pattern = "^";
  let at = 0;
  const groups = new Map<string, number>();
  for (const { key, start, end } of members) {
    const any = key === "type" ? undefined : anyLike(event[key], key === source.field);
    if (any === undefined) continue;
    const isRead = key === source.field || key === "output_index" || key === source.part;
    if (isRead) groups.set(key, groups.size + 1);
    const quote = typeof event[key] === "string" ? '"' : "";
    pattern += literal(data.slice(at, start)) + quote + (isRead ? `(${any})` : any) + quote;
    at = end;
  }
  const textGroup = groups.get(source.field);
  if (textGroup === undefined) return undefined;
  return {
    type,
    source,
    pattern: new RegExp(`${pattern}${literal(data.slice(at))}$`),
    textGroup,
    indexGroup: groups.get("output_index"),
    partGroup: groups.get(source.part ?? ""),
    outputIndex: numberOf(event["output_index"]) ?? 0,
    part: source.part === undefined ? 0 : (numberOf(event[source.part]) ?? 0),
  };
}

/** A pattern for every value of the same kind, or undefined for a value that must stay the same. */
function anyLike(value: unknown, escaped: boolean): string | undefined {
  if (typeof value === "string") return escaped ? ESCAPED : PLAIN;
  return Number.isSafeInteger(value) && !Object.is(value, -0) && (value as number) >= 0 ? INTEGER : undefined;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
