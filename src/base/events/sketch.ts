/**
 * What a request needs of an item or a result, without decoding the rest of its event: most of a long history is sent
 * back unchanged, and then nothing else of it is ever read. A stored line that is not as this version writes it is
 * decoded, and so gives the same sketch. A sketch keeps ids and places, but no text.
 */

import type { ItemEvent, ResponseEnd, ResponseStart, ToolResult } from "./canonical.ts";
import {
  BACKSLASH,
  bytesOf,
  digitsEnd,
  fieldAt,
  type FieldPlaces,
  isAt,
  isSame,
  type LineBytes,
  numberIn,
  QUOTE,
  quoteAfter,
} from "./line-bytes.ts";
import type { Origin } from "./origin.ts";
import { type EventHead, eventOf, isQuiet, type StoredEvent } from "./stored-event.ts";
import type { Usage } from "./usage.ts";

export class ItemSketch {
  readonly head: EventHead;
  readonly type: ItemEvent["type"];
  readonly outputIndex: number;
  readonly itemType: string;
  readonly itemId: string | undefined;
  /** Of a thought. */
  readonly opaque: boolean;
  /** Of a message: nothing but white space. */
  readonly blank: boolean;
  /** Of a call; otherwise empty. */
  readonly callId: string;
  readonly name: string;
  /** Whether its text names a `caller`, or something that looks like one. */
  readonly called: boolean;
  /** Where the item begins, counted from the start of its line, or -1 for an event that was decoded. */
  readonly #at: number;

  constructor(head: EventHead, fields: Omit<ItemSketch, "head" | "item">, at: number) {
    this.head = head;
    this.type = fields.type;
    this.outputIndex = fields.outputIndex;
    this.itemType = fields.itemType;
    this.itemId = fields.itemId;
    this.opaque = fields.opaque;
    this.blank = fields.blank;
    this.callId = fields.callId;
    this.name = fields.name;
    this.called = fields.called;
    this.#at = at;
  }

  /** The text of the item, exactly as the provider sent it. */
  get item(): string {
    if (this.#at === -1) return (eventOf(this.head) as ItemEvent).item;
    const { line } = this.head as StoredEvent;
    return line.text(line.start + this.#at, line.end);
  }
}

export class ResultSketch {
  readonly head: EventHead;
  readonly callId: string;
  readonly hasParts: boolean;
  /** Where its text is in its line, or -1 for an event that was decoded. */
  readonly #start: number;
  readonly #end: number;

  constructor(head: EventHead, callId: string, hasParts: boolean, start = -1, end = -1) {
    this.head = head;
    this.callId = callId;
    this.hasParts = hasParts;
    this.#start = start;
    this.#end = end;
  }

  /** The text of the result as `JSON.stringify` writes it. */
  get json(): string {
    if (this.#start === -1) return JSON.stringify((eventOf(this.head) as ToolResult).text);
    const { line } = this.head as StoredEvent;
    return line.text(line.start + this.#start, line.start + this.#end);
  }
}

export function sketchOfItem(head: EventHead): ItemSketch {
  const known = isQuiet(head) ? itemOfLine(head, head.line) : undefined;
  if (known !== undefined) return known;
  const event = eventOf(head) as ItemEvent;
  const { type, outputIndex, itemType, itemId, item } = event;
  const fields = {
    type,
    outputIndex,
    itemType,
    itemId,
    opaque: type === "reasoning" && event.opaque,
    blank: type === "assistant_message" && event.text.trim() === "",
    callId: type === "tool_call" ? event.callId : "",
    name: type === "tool_call" ? event.name : "",
    called: type !== "reasoning" && item.includes(CALLER),
  };
  return new ItemSketch(head, fields, -1);
}

export function sketchOfResult(head: EventHead): ResultSketch {
  const known = isQuiet(head) ? resultOfLine(head, head.line) : undefined;
  if (known !== undefined) return known;
  const { callId, parts } = eventOf(head) as ToolResult;
  return new ResultSketch(head, callId, parts !== undefined);
}

/** Nearly all responses of a session come from one origin, so most are known by the bytes that the line before had. */
export function originOf(head: EventHead): Origin {
  if (!isQuiet(head)) return (eventOf(head) as ResponseStart).origin;
  const { bytes, start, end } = head.line;
  const at = start + head.typeEnd;
  const known = lastOrigin;
  const from = digitsEnd(bytes, digitsEnd(bytes, at + STEP.length) + ATTEMPT.length);
  if (known !== undefined && isSame(bytes, from, known.raw, 0, known.raw.length)) return known.origin;
  const { origin } = head.event as ResponseStart;
  if (isAt(bytes, from, ORIGIN) && fieldAt(bytes, from, end, field))
    lastOrigin = { raw: bytes.slice(from, field.valueEnd), origin };
  return origin;
}

const STEP = bytesOf(',"step":');
const ATTEMPT = bytesOf(',"attempt":');
const ORIGIN = bytesOf(',"origin":{');
let lastOrigin: { readonly raw: Uint8Array; readonly origin: Origin } | undefined;

/** The usage of a response. A line that is known by its head is as usual (line-head.ts), so nothing is decoded. */
export function usageOf(head: EventHead): Usage | undefined {
  if (!isQuiet(head)) return (eventOf(head) as ResponseEnd).usage;
  const { bytes, start, end } = head.line;
  for (let at = start + head.typeEnd; at < end && fieldAt(bytes, at, end, field); at = field.valueEnd)
    if (isAt(bytes, at, USAGE))
      return usageIn(bytes, field.valueStart, field.valueEnd) ?? (head.event as ResponseEnd).usage;
  return undefined;
}

/** Undefined if it says more or less than the usual four counts. */
function usageIn(bytes: Uint8Array, start: number, end: number): Usage | undefined {
  let at = start;
  const next = (key: Uint8Array): number => {
    if (at === -1 || !isAt(bytes, at, key)) return (at = -1);
    const from = at + key.length;
    at = digitsEnd(bytes, from);
    return numberIn(bytes, from, at);
  };
  const usage: Usage = {
    inputTokens: next(INPUT_TOKENS),
    cachedTokens: next(CACHED_TOKENS),
    outputTokens: next(OUTPUT_TOKENS),
    reasoningTokens: next(REASONING_TOKENS),
  };
  const known = at === end - 1 && Object.values(usage).every((count) => count !== -1);
  return known ? usage : undefined;
}

const USAGE = bytesOf(',"usage":{');
const INPUT_TOKENS = bytesOf('{"inputTokens":');
const CACHED_TOKENS = bytesOf(',"cachedTokens":');
const OUTPUT_TOKENS = bytesOf(',"outputTokens":');
const REASONING_TOKENS = bytesOf(',"reasoningTokens":');

const field: FieldPlaces = { keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0 };

const CALLER = '"caller"';
const CALLER_BYTES = bytesOf(CALLER);
const ITEM = bytesOf(',"item":');
const OUTPUT_INDEX = bytesOf(',"outputIndex":');
const ITEM_TYPE = bytesOf(',"itemType":"');
const ITEM_ID = bytesOf(',"itemId":"');
const OPAQUE = bytesOf(',"opaque":true,');
const CALL_ID = bytesOf(',"callId":"');
const NAME = bytesOf(',"name":"');
const STATUS = bytesOf(',"status":"');
const TEXT = bytesOf(',"text":"');

/** The last of each, so that values that repeat are the same strings. */
const last = { thought: "", call: "", name: "" };

/** Of thoughts and calls: their lines say first what is needed, and the item last. */
function itemOfLine(head: StoredEvent, line: LineBytes): ItemSketch | undefined {
  const { type } = head;
  if (type !== "reasoning" && type !== "tool_call") return undefined;
  const isCall = type === "tool_call";
  const { bytes, start: lineStart } = line;
  let at = lineStart + head.typeEnd;
  if (!isAt(bytes, at, OUTPUT_INDEX)) return undefined;
  at += OUTPUT_INDEX.length;
  const outputIndex = (bytes[at] ?? 0) - 0x30;
  at += 1;
  // More than ten items are decoded.
  if (outputIndex < 0 || outputIndex > 9 || !isAt(bytes, at, ITEM_TYPE)) return undefined;
  at += ITEM_TYPE.length;
  const itemType = textAt(line, at, isCall ? last.call : last.thought);
  if (itemType === undefined) return undefined;
  if (isCall) last.call = itemType;
  else last.thought = itemType;
  at += itemType.length + 1;
  if (!isAt(bytes, at, ITEM_ID)) return undefined;
  at += ITEM_ID.length;
  const itemId = textAt(line, at);
  if (itemId === undefined) return undefined;
  at += itemId.length + 1;
  let callId: string | undefined = "";
  let name: string | undefined = "";
  if (isCall) {
    callId = isAt(bytes, at, CALL_ID) ? textAt(line, at + CALL_ID.length) : undefined;
    if (callId === undefined) return undefined;
    at += CALL_ID.length + callId.length + 1;
    name = isAt(bytes, at, NAME) ? textAt(line, at + NAME.length, last.name) : undefined;
    if (name === undefined) return undefined;
    last.name = name;
  } else if (!isAt(bytes, at, OPAQUE)) return undefined;
  const itemAt = line.find(ITEM, at);
  if (itemAt === -1) return undefined;
  const called = isCall && line.find(CALLER_BYTES, itemAt) !== -1;
  const fields = { type, outputIndex, itemType, itemId, opaque: !isCall, blank: false, callId, name, called };
  return new ItemSketch(head, fields, itemAt + ITEM.length - lineStart);
}

/** A line that names parts was decoded when it was read. */
function resultOfLine(head: StoredEvent, line: LineBytes): ResultSketch | undefined {
  const { bytes, start: lineStart, end: lineEnd } = line;
  let at = lineStart + head.typeEnd;
  if (head.type !== "tool_result" || !isAt(bytes, at, CALL_ID)) return undefined;
  at += CALL_ID.length;
  const callId = textAt(line, at);
  if (callId === undefined) return undefined;
  at += callId.length + 1;
  if (!isAt(bytes, at, STATUS)) return undefined;
  const textKey = quoteAfter(bytes, at + STATUS.length, lineEnd) + 1;
  if (!isAt(bytes, textKey, TEXT)) return undefined;
  const start = textKey + TEXT.length - 1;
  const quote = quoteAfter(bytes, start + 1, lineEnd);
  if (quote === -1 || hasOtherEscapes(bytes, start, quote)) return undefined;
  return new ResultSketch(head, callId, false, start - lineStart, quote + 1 - lineStart);
}

/** JSON.stringify writes nothing as `\/`, and `\u` only for what it has to: another writer may have written more. */
function hasOtherEscapes(bytes: Uint8Array, start: number, end: number): boolean {
  const json = bytes.subarray(start, end); // without an end, each search would go through the rest of the file
  for (let at = json.indexOf(BACKSLASH); at !== -1; at = json.indexOf(BACKSLASH, at + 2))
    if (json[at + 1] === SMALL_U || json[at + 1] === SLASH) return true;
  return false;
}

const SMALL_U = 0x75;
const SLASH = 0x2f;

/** The text that begins there, or undefined if it is not plain ASCII. `known` is what it may be. */
function textAt(line: LineBytes, start: number, known = ""): string | undefined {
  const { bytes, end } = line;
  let same = 0;
  while (same < known.length && bytes[start + same] === known.charCodeAt(same)) same += 1;
  if (known !== "" && same === known.length && bytes[start + same] === QUOTE) return known;
  let at = start;
  for (; bytes[at] !== QUOTE; at += 1) {
    const byte = bytes[at] as number;
    if (at >= end || byte === BACKSLASH || byte > 0x7e) return undefined;
  }
  return line.text(start, at);
}
