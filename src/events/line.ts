/**
 * An event as one line of JSON, and back. Flat, camelCase, readable with `jq`; provider items stand in it as their exact
 * text, never re-serialised. The checksum is the log's business, not ours.
 *
 * @module
 */

import {
  escapeLineSeparators,
  isObject,
  type RawJson,
  sliceArray,
  sliceMember,
  ThroughlineError,
  tryParseJson,
} from "../support/index.ts";
import { CANONICAL_TYPES, type LateItem, type LoggedEvent, type UnknownEvent } from "./canonical.ts";

const KNOWN: ReadonlySet<string> = new Set(CANONICAL_TYPES);

/** The line without its closing brace, so that the log can add the checksum as the last field. */
export function toOpenLine(event: LoggedEvent): string {
  if (event.type === "unknown") return event.raw.slice(0, event.raw.lastIndexOf("}"));
  if ("item" in event) {
    const { item, ...rest } = event;
    return `${openJson(rest)},"item":${item}`;
  }
  if (event.type === "response_end" && event.late !== undefined) {
    const { late, ...rest } = event;
    const items = late.map((one) => `{"outputIndex":${one.outputIndex},"item":${one.item}}`);
    return `${openJson(rest)},"late":[${items.join(",")}]`;
  }
  return openJson(event);
}

export function toLine(event: LoggedEvent): string {
  return `${toOpenLine(event)}}`;
}

/** `line` is the JSON text of one event, with or without its `sum`. */
export function parseLine(line: string): LoggedEvent {
  const value = tryParseJson(line);
  if (!isObject(value) || typeof value["type"] !== "string") {
    throw new ThroughlineError({
      code: "event_invalid",
      message: "not an event: no JSON object with a type",
    });
  }
  for (const [field, type] of ENVELOPE) {
    if (typeof value[field] !== type) {
      throw new ThroughlineError({
        code: "event_invalid",
        message: `not an event: ${field} is not a ${type}`,
      });
    }
  }
  const { sum: _sum, ...event } = value;
  if (value["v"] !== 1 || !KNOWN.has(value["type"])) return unknownEvent(event, value["type"], line);
  if ("item" in event) return { ...event, item: sliceMember(line, "item") } as unknown as LoggedEvent;
  if ("late" in event) return { ...event, late: parseLate(line) } as unknown as LoggedEvent;
  return event as unknown as LoggedEvent;
}

/** The format a line was written in; an event of another version is kept as `unknown`, with its own text. */
export function formatVersionOf(event: LoggedEvent): number {
  return event.type === "unknown" ? Number(sliceMember(event.raw, "v")) : event.v;
}

const ENVELOPE = [
  ["v", "number"],
  ["seq", "number"],
  ["id", "string"],
  ["at", "string"],
  ["epoch", "number"],
] as const;

function openJson(value: object): string {
  return escapeLineSeparators(JSON.stringify(value)).slice(0, -1);
}

function parseLate(line: string): readonly LateItem[] {
  return sliceArray(sliceMember(line, "late") ?? "[]").map((text) => ({
    outputIndex: Number(sliceMember(text, "outputIndex")),
    item: (sliceMember(text, "item") ?? "null") as RawJson,
  }));
}

function unknownEvent(
  event: Readonly<Record<string, unknown>>,
  unknownType: string,
  line: string,
): UnknownEvent {
  const sumAt = line.lastIndexOf(',"sum":"');
  const raw = (sumAt === -1 ? line : `${line.slice(0, sumAt)}}`) as RawJson;
  const { seq, id, at, epoch, turn, response } = event as unknown as UnknownEvent;
  return {
    v: 1,
    seq,
    id,
    at,
    epoch,
    ...(typeof turn === "string" ? { turn } : {}),
    ...(typeof response === "string" ? { response } : {}),
    type: "unknown",
    unknownType,
    raw,
  };
}
