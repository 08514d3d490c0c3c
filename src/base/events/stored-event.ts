/**
 * Events that are decoded when something needs them. A line of a log whose checksum was verified is known by its head:
 * type, number, turn, response. Most events of a long session are never more than that to most readers, so opening a
 * log decodes only the few that say something about the session as a whole.
 *
 * An event is its own head, so code that needs no more takes both.
 */

import { codedError } from "../support/index.ts";
import type { LoggedEvent } from "./canonical.ts";
import { parseCheckedLine } from "./line.ts";

/** What every event says of itself first. */
export interface EventHead {
  readonly type: LoggedEvent["type"];
  readonly seq: number;
  readonly epoch: number;
  /** ISO 8601, wall time. */
  readonly at: string;
  readonly turn?: string | undefined;
  readonly response?: string | undefined;
  /** Of a `response_start`. */
  readonly step?: number | undefined;
}

/** The lines of a log, by their place in it. Throws if a line cannot be read any more. */
export interface LineSource {
  /** The line without its checksum. `seq` names it in an error. */
  text(start: number, end: number, seq: number): string;
  /** What an unusable line is reported as. */
  damaged(start: number, seq: number, error: unknown): Error;
  /** Whether decoded events are kept. Not in a log that is too large for that. */
  readonly keeps: boolean;
}

/** The head of an event, and the place of its line. */
export class StoredEvent implements EventHead {
  readonly type: LoggedEvent["type"];
  readonly seq: number;
  readonly epoch: number;
  readonly turn: string | undefined;
  readonly response: string | undefined;
  readonly step: number | undefined;
  /** Where the fields of its type begin in its text. */
  readonly typeEnd: number;
  readonly #lines: LineSource;
  readonly #start: number;
  readonly #end: number;
  #event: LoggedEvent | WeakRef<LoggedEvent> | undefined;

  constructor(head: LineHead, lines: LineSource, start: number, end: number) {
    this.type = head.type;
    this.seq = head.seq;
    this.epoch = head.epoch;
    this.turn = head.turn;
    this.response = head.response;
    this.step = head.step;
    this.typeEnd = head.typeEnd;
    this.#lines = lines;
    this.#start = start;
    this.#end = end;
  }

  get at(): string {
    return this.event.at;
  }

  /** Its line without the checksum. */
  get text(): string {
    return this.#lines.text(this.#start, this.#end, this.seq);
  }

  /** The same object for as long as anything holds it. */
  get event(): LoggedEvent {
    const known = this.#event instanceof WeakRef ? this.#event.deref() : this.#event;
    if (known !== undefined) return known;
    const { text } = this;
    let event: LoggedEvent;
    try {
      event = parseCheckedLine(text);
      this.#assertSame(event);
    } catch (error) {
      throw this.#lines.damaged(this.#start, this.seq, error);
    }
    this.#event = this.#lines.keeps ? event : new WeakRef(event);
    return event;
  }

  /** A line that another program wrote may repeat a key, and then its last value counts. */
  #assertSame(event: EventHead): void {
    const { type, seq, epoch, turn, response, step } = this;
    if (event.type === type && event.seq === seq && event.epoch === epoch && event.turn === turn)
      if (event.response === response && (step === undefined || event.step === step)) return;
    throw codedError("event_invalid", "not an event: a key is repeated");
  }
}

export function eventOf(head: EventHead): LoggedEvent {
  return head instanceof StoredEvent ? head.event : (head as LoggedEvent);
}

/** The heads of each list that `decodedWhenRead` made. */
const lists = new WeakMap<readonly LoggedEvent[], readonly EventHead[]>();

/** The heads of a list of events: of any list, without decoding one. */
export function headsOf(events: readonly LoggedEvent[]): readonly EventHead[] {
  return lists.get(events) ?? events;
}

/** The events whose heads are wanted. No other event is decoded. */
export function eventsWhere(
  events: readonly LoggedEvent[],
  wanted: (head: EventHead) => boolean,
): readonly LoggedEvent[] {
  return headsOf(events).filter(wanted).map(eventOf);
}

/** A list of events that grows with `heads`. To its readers it is an array; each element is decoded when it is read. */
export function decodedWhenRead(heads: EventHead[]): readonly LoggedEvent[] {
  const list = new Proxy(heads, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      return value instanceof StoredEvent ? value.event : value;
    },
    getOwnPropertyDescriptor(target, key) {
      const found = Reflect.getOwnPropertyDescriptor(target, key);
      return found?.value instanceof StoredEvent ? { ...found, value: found.value.event } : found;
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  }) as unknown as readonly LoggedEvent[];
  lists.set(list, heads);
  return list;
}

/** What the first fields of a line say, and where. */
export interface LineHead {
  readonly type: LoggedEvent["type"];
  readonly seq: number;
  readonly epoch: number;
  readonly turn: string;
  readonly turnAt: number;
  readonly response: string;
  readonly responseAt: number;
  readonly step: number | undefined;
  /** Where the fields of its type begin, counted from the start of the line. */
  readonly typeEnd: number;
}

/** Types whose head is all that the folds need when a log is opened. */
const QUIET = (
  [
    "reasoning",
    "tool_call",
    "tool_result",
    "tool_start",
    "permission_decision",
    "response_start",
    "assistant_message",
  ] satisfies LoggedEvent["type"][]
).map((type) => ({ type, bytes: bytesOf(`${type}"`) }));

/** Fields that the folds do need: an event that has one is decoded at once. */
export const LOUD_FIELDS: Readonly<Partial<Record<LoggedEvent["type"], readonly string[]>>> = {
  response_start: [',"leftOut'],
  tool_result: ['"blob":', '"spent":'],
};

/**
 * The head of a line as this version writes it, if the rest can wait. Undefined for any other line. `before` is the
 * head of the line before, in the same bytes: ids that repeat are the same strings. Reads bytes, because a text of
 * every line would cost more than everything else here.
 */
export function quietHead(
  bytes: Uint8Array,
  start: number,
  before: LineHead | undefined,
): LineHead | undefined {
  if (!isAt(bytes, start, SEQ)) return undefined;
  const seqEnd = digitsEnd(bytes, start + SEQ.length);
  if (!isAt(bytes, seqEnd, ID)) return undefined;
  const idEnd = bytes.indexOf(QUOTE, seqEnd + ID.length);
  if (!isAt(bytes, idEnd, AT)) return undefined;
  const atEnd = bytes.indexOf(QUOTE, idEnd + AT.length);
  if (!isAt(bytes, atEnd, EPOCH)) return undefined;
  const epochAt = atEnd + EPOCH.length;
  const epochEnd = digitsEnd(bytes, epochAt);
  if (!isAt(bytes, epochEnd, TURN)) return undefined;
  const turnAt = epochEnd + TURN.length;
  const turn = idAt(bytes, turnAt, before?.turn, before?.turnAt);
  if (turn === undefined || !isAt(bytes, turnAt + turn.length, RESPONSE)) return undefined;
  const responseAt = turnAt + turn.length + RESPONSE.length;
  const response = idAt(bytes, responseAt, before?.response, before?.responseAt);
  if (response === undefined || !isAt(bytes, responseAt + response.length, TYPE)) return undefined;
  const typeAt = responseAt + response.length + TYPE.length;
  const type = typeFrom(bytes, typeAt);
  if (type === undefined) return undefined;
  const typeEnd = typeAt + type.length + 1;
  const stepAt = typeEnd + STEP.length;
  const hasStep = type === "response_start";
  if (hasStep && !isAt(bytes, typeEnd, STEP)) return undefined;
  const seq = numberIn(bytes, start + SEQ.length, seqEnd);
  const epoch = numberIn(bytes, epochAt, epochEnd);
  const step = hasStep ? numberIn(bytes, stepAt, digitsEnd(bytes, stepAt)) : undefined;
  if (seq === -1 || epoch === -1 || step === -1) return undefined;
  return { type, seq, epoch, turn, turnAt, response, responseAt, step, typeEnd: typeEnd - start };
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

const SEQ = bytesOf('{"v":1,"seq":');
const ID = bytesOf(',"id":"');
const AT = bytesOf('","at":"');
const EPOCH = bytesOf('","epoch":');
const TURN = bytesOf(',"turn":"');
const RESPONSE = bytesOf('","response":"');
const TYPE = bytesOf('","type":"');
const STEP = bytesOf(',"step":');
const QUOTE = 0x22;

function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index += 1)
    if (bytes[at + index] !== expected[index]) return false;
  return true;
}

/** The text that begins there, or undefined if it is not plain. */
function idAt(
  bytes: Uint8Array,
  at: number,
  before: string | undefined,
  beforeAt: number | undefined,
): string | undefined {
  if (before !== undefined && beforeAt !== undefined) {
    let same = 0;
    while (same < before.length && bytes[at + same] === bytes[beforeAt + same]) same += 1;
    if (same === before.length && bytes[at + same] === QUOTE) return before;
  }
  let id = "";
  for (let index = at; bytes[index] !== QUOTE; index += 1) {
    if (id.length === LONGEST_ID) return undefined;
    id += String.fromCharCode(bytes[index] ?? 0);
  }
  return PLAIN_ID.test(id) ? id : undefined;
}

const LONGEST_ID = 100;
const PLAIN_ID = /^[\w.:-]+$/;

function typeFrom(bytes: Uint8Array, at: number): LoggedEvent["type"] | undefined {
  for (const quiet of QUIET) if (isAt(bytes, at, quiet.bytes)) return quiet.type;
  return undefined;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at += 1;
  return at;
}

/** A whole number of at most nine digits, or -1. */
function numberIn(bytes: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > 9) return -1;
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + (bytes[at] as number) - 0x30;
  return value;
}
