/**
 * An event as one line of JSON, and back. Flat, camelCase, readable with `jq`. Provider items are included as their
 * exact text, never re-serialised. The log adds the checksum.
 */

import {
  codedError,
  escapeLineSeparators,
  isObject,
  isOneValue,
  type JsonObject,
  publicAddress,
  type RawJson,
  sliceArray,
  sliceMember,
  type ThroughlineError,
  tryParseJson,
} from "../support/index.ts";
import {
  CANONICAL_TYPES,
  isItemEvent,
  type LateItem,
  type LoggedEvent,
  type UnknownEvent,
} from "./canonical.ts";
import { typedEvent } from "./validate-event.ts";

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

/** Writes an event as one line of JSON, without checksum and line end. */
export function toLine(event: LoggedEvent): string {
  return `${toOpenLine(event)}}`;
}

/** Returns the event as a reader of its line gets it. An event of an unknown type keeps its own text. */
export function asRead(event: LoggedEvent): LoggedEvent {
  return KNOWN.has(event.type) ? event : parseLine(toLine(event));
}

/** Reads one line of a log, with or without its checksum field `sum`. Throws `event_invalid`. */
export function parseLine(line: string): LoggedEvent {
  return toEvent(tryParseJson(line), line);
}

/**
 * Parses a line without `sum` whose checksum was verified. Its item is most of the line and its last field. It is not
 * parsed, because only its text is used.
 */
export function parseCheckedLine(line: string): LoggedEvent {
  const at = line.indexOf(ITEM_KEY);
  if (at === -1) return toEvent(tryParseJson(line), line);
  const head = tryParseJson(`${line.slice(0, at)}}`);
  const item = line.slice(at + ITEM_KEY.length, -1);
  // A deeper key of that name would cut the head in two; anything after the item would make more than one value.
  if (!isObject(head) || !isOneValue(item) || !isKnown(head)) return parseLine(line);
  assertEnvelope(head);
  const event = withTypedFields(head);
  // The event is not shared yet. Object.assign would take longer than the parser on Node 20.
  (event as Record<string, unknown>)["item"] = item;
  return event as unknown as LoggedEvent;
}

const ITEM_KEY = ',"item":';

function toEvent(value: unknown, line: string): LoggedEvent {
  if (!isObject(value) || typeof value["type"] !== "string") throw notAnEvent("no JSON object with a type");
  assertEnvelope(value);
  const given = "sum" in value ? withoutSum(value) : value;
  if (!isKnown(value)) return unknownEvent(given, value["type"], line);
  const event = withTypedFields(given);
  if (isItemEvent(event as unknown as LoggedEvent) && !("item" in event))
    throw notAnEvent(`${value["type"]}: item is missing`);
  if ("item" in event) return { ...event, item: sliceMember(line, "item") } as unknown as LoggedEvent;
  if ("late" in event) return { ...event, late: parseLate(line) } as unknown as LoggedEvent;
  return withPublicOrigins(event) as unknown as LoggedEvent;
}

/** Earlier versions accepted a base URL with a key in it and wrote it into every origin. */
function withPublicOrigins(value: JsonObject): JsonObject {
  let event = value;
  for (const name of ["origin", "target", "settings"]) {
    const inner = event[name];
    if (!isObject(inner)) continue;
    const { endpoint } = inner;
    const shown = typeof endpoint === "string" ? publicAddress(endpoint) : endpoint;
    const clean = shown === endpoint ? withPublicOrigins(inner) : { ...inner, endpoint: shown };
    if (clean !== inner) event = { ...event, [name]: clean };
  }
  return event;
}

function isKnown(value: JsonObject): boolean {
  return value["v"] === 1 && KNOWN.has(value["type"] as string);
}

function withoutSum({ sum: _sum, ...event }: JsonObject): JsonObject {
  return event;
}

function assertEnvelope({ v, seq, id, at, epoch }: JsonObject): void {
  if (typeof v !== "number") throw notAnEvent("v is not a number");
  if (typeof seq !== "number") throw notAnEvent("seq is not a number");
  if (typeof id !== "string") throw notAnEvent("id is not a string");
  if (typeof at !== "string") throw notAnEvent("at is not a string");
  if (typeof epoch !== "number") throw notAnEvent("epoch is not a number");
}

/** Only for a known type. */
function withTypedFields(event: JsonObject): JsonObject {
  const typed = typedEvent(event);
  if (typeof typed === "string") throw notAnEvent(typed);
  return typed;
}

function notAnEvent(why: string): ThroughlineError {
  return codedError("event_invalid", `not an event: ${why}`);
}

/** The format a line was written in. An event of another version is kept as `unknown`, with its own text. */
export function formatVersionOf(event: LoggedEvent): number {
  return event.type === "unknown" ? Number(sliceMember(event.raw, "v")) : event.v;
}

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
