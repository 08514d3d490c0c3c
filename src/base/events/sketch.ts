/**
 * What a request needs of an item or a result, without decoding the rest of its event: most of a long history is sent
 * back unchanged, and then nothing else of it is ever read. A stored line that is not as this version writes it is
 * decoded, and so gives the same sketch. A sketch keeps ids and places, but no text.
 */

import type { ItemEvent, ToolResult } from "./canonical.ts";
import { type EventHead, eventOf, StoredEvent } from "./stored-event.ts";

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
  /** Where the item begins in the text of its line, or -1 for an event that was decoded. */
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
    return this.#at === -1
      ? (eventOf(this.head) as ItemEvent).item
      : (this.head as StoredEvent).text.slice(this.#at, -1);
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
    return this.#start === -1
      ? JSON.stringify((eventOf(this.head) as ToolResult).text)
      : (this.head as StoredEvent).text.slice(this.#start, this.#end);
  }
}

export function sketchOfItem(head: EventHead): ItemSketch {
  const known = head instanceof StoredEvent ? itemOfLine(head, head.text) : undefined;
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
    called: item.includes(CALLER),
  };
  return new ItemSketch(head, fields, -1);
}

export function sketchOfResult(head: EventHead): ResultSketch {
  const known = head instanceof StoredEvent ? resultOfLine(head, head.text) : undefined;
  if (known !== undefined) return known;
  const { callId, parts } = eventOf(head) as ToolResult;
  return new ResultSketch(head, callId, parts !== undefined);
}

const CALLER = '"caller"';
const ITEM = ',"item":';
const OUTPUT_INDEX = ',"outputIndex":';
const ITEM_TYPE = ',"itemType":"';
const ITEM_ID = ',"itemId":"';
const OPAQUE = ',"opaque":true,';
const CALL_ID = ',"callId":"';
const NAME = ',"name":"';
const STATUS = ',"status":"';
const TEXT = ',"text":"';

/** The last of each, so that values that repeat are the same strings. */
const last = { thought: "", call: "", name: "" };

/** Of thoughts and calls: their lines say first what is needed, and the item last. */
function itemOfLine(head: StoredEvent, line: string): ItemSketch | undefined {
  const { type, typeEnd } = head;
  if (type !== "reasoning" && type !== "tool_call") return undefined;
  const isCall = type === "tool_call";
  if (!line.startsWith(OUTPUT_INDEX, typeEnd)) return undefined;
  const outputIndex = line.charCodeAt(typeEnd + OUTPUT_INDEX.length) - 0x30;
  const indexEnd = typeEnd + OUTPUT_INDEX.length + 1;
  // More than ten items are decoded.
  if (outputIndex < 0 || outputIndex > 9 || !line.startsWith(ITEM_TYPE, indexEnd)) return undefined;
  const itemType = textAt(line, indexEnd + ITEM_TYPE.length, isCall ? last.call : last.thought);
  if (itemType === undefined) return undefined;
  if (isCall) last.call = itemType;
  else last.thought = itemType;
  const itemTypeEnd = indexEnd + ITEM_TYPE.length + itemType.length + 1;
  if (!line.startsWith(ITEM_ID, itemTypeEnd)) return undefined;
  const itemId = textAt(line, itemTypeEnd + ITEM_ID.length);
  if (itemId === undefined) return undefined;
  let at = itemTypeEnd + ITEM_ID.length + itemId.length + 1;
  let callId: string | undefined = "";
  let name: string | undefined = "";
  if (isCall) {
    callId = line.startsWith(CALL_ID, at) ? textAt(line, at + CALL_ID.length) : undefined;
    if (callId === undefined) return undefined;
    at += CALL_ID.length + callId.length + 1;
    name = line.startsWith(NAME, at) ? textAt(line, at + NAME.length, last.name) : undefined;
    if (name === undefined) return undefined;
    last.name = name;
  } else if (!line.startsWith(OPAQUE, at)) return undefined;
  const start = line.indexOf(ITEM, at);
  if (start === -1) return undefined;
  const called = isCall && line.includes(CALLER, start);
  const fields = { type, outputIndex, itemType, itemId, opaque: !isCall, blank: false, callId, name, called };
  return new ItemSketch(head, fields, start + ITEM.length);
}

function resultOfLine(head: StoredEvent, line: string): ResultSketch | undefined {
  if (head.type !== "tool_result" || !line.startsWith(CALL_ID, head.typeEnd)) return undefined;
  const callId = textAt(line, head.typeEnd + CALL_ID.length);
  if (callId === undefined) return undefined;
  const statusAt = head.typeEnd + CALL_ID.length + callId.length + 1;
  if (!line.startsWith(STATUS, statusAt)) return undefined;
  const textKey = line.indexOf('"', statusAt + STATUS.length) + 1;
  if (!line.startsWith(TEXT, textKey)) return undefined;
  const start = textKey + TEXT.length - 1;
  let end = line.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(line, end)) end = line.indexOf('"', end + 1);
  if (end === -1) return undefined;
  // JSON.stringify writes nothing as `\/`, and `\u` only for what it has to: another writer may have written more.
  const escape = line.indexOf("\\", start);
  if (escape !== -1 && escape < end) {
    const json = line.slice(start, end);
    if (json.includes("\\u") || json.includes("\\/")) return undefined;
  }
  // A line that names parts was decoded when it was read.
  return new ResultSketch(head, callId, false, start, end + 1);
}

/** The text that begins there, or undefined if it has an escape. `known` is what it may be. */
function textAt(line: string, start: number, known = ""): string | undefined {
  if (known !== "" && line.startsWith(known, start) && line.charCodeAt(start + known.length) === QUOTE)
    return known;
  const end = line.indexOf('"', start);
  if (end === -1) return undefined;
  // Copied: ids are kept, and a slice would keep the whole line in memory.
  const text = ` ${line.slice(start, end)}`.slice(1);
  return text.includes("\\") ? undefined : text;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
