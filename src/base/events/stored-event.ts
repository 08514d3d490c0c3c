/**
 * Events that are decoded when something needs them. A line of a log whose checksum was verified is known by its head:
 * type, number, turn, response. Most events of a long session are never more than that to most readers, so opening a
 * log decodes only the few that say something about the session as a whole.
 *
 * An event is its own head, so code that needs no more takes both.
 */

import { codedError } from "../support/index.ts";
import type { LoggedEvent } from "./canonical.ts";
import type { LineBytes } from "./line-bytes.ts";
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
  /** The same line as bytes. */
  bytes(start: number, end: number, seq: number): LineBytes;
  /** What an unusable line is reported as. */
  damaged(start: number, seq: number, error: unknown): Error;
  /** Whether decoded events are kept. Not in a log that is too large for that. */
  readonly keeps: boolean;
}

/** What is known of a line before its event is decoded. */
export type KnownHead = Pick<
  StoredEvent,
  "type" | "seq" | "epoch" | "turn" | "response" | "step" | "typeEnd"
>;

/**
 * The head of an event, and the place of its line. Every event of a file is one, also if it was decoded when its line
 * was read: V8 compiles code that reads heads of one shape once, and code that reads many shapes again and again.
 */
export class StoredEvent implements EventHead {
  readonly type: LoggedEvent["type"];
  readonly seq: number;
  readonly epoch: number;
  readonly turn: string | undefined;
  readonly response: string | undefined;
  readonly step: number | undefined;
  /** Where the fields of its type begin in its line. -1 for an event that was decoded when its line was read. */
  readonly typeEnd: number;
  readonly #lines: LineSource;
  readonly #start: number;
  readonly #end: number;
  #event: LoggedEvent | WeakRef<LoggedEvent> | undefined;

  constructor(head: KnownHead, lines: LineSource, start: number, end: number, event?: LoggedEvent) {
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
    this.#event = event;
  }

  get at(): string {
    return this.event.at;
  }

  /** Whether its head was all that was read of it when the log was opened. */
  get isQuiet(): boolean {
    return this.typeEnd !== -1;
  }

  /** Its line. The bytes are valid until another line of the log is asked for. */
  get line(): LineBytes {
    return this.#lines.bytes(this.#start, this.#end, this.seq);
  }

  /** The same object for as long as anything holds it. */
  get event(): LoggedEvent {
    const known = this.#event instanceof WeakRef ? this.#event.deref() : this.#event;
    if (known !== undefined) return known;
    const text = this.#lines.text(this.#start, this.#end, this.seq);
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

/** Of an event that was decoded when its line was read. */
export function headOf(event: LoggedEvent): KnownHead {
  const { type, seq, epoch, turn, response, step } = event as EventHead;
  return { type, seq, epoch, turn, response, step, typeEnd: -1 };
}

export function eventOf(head: EventHead): LoggedEvent {
  return head instanceof StoredEvent ? head.event : (head as LoggedEvent);
}

/** Whether only the head of the event was read when its log was opened. */
export function isQuiet(head: EventHead): head is StoredEvent {
  return head instanceof StoredEvent && head.isQuiet;
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
