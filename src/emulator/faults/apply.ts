/**
 * Faults applied to a finished response: first to the list of events, then to the bytes. Pure; the writer only plays
 * the script that comes out.
 *
 * @module
 */

import { assertNever, isObject, type JsonObject } from "../../support/index.ts";
import type { StreamEvent } from "../output/events.ts";
import type { Fault, FaultPoint } from "./fault.ts";

interface Frame {
  readonly type: string;
  /** `undefined` for what is not an event (a byte order mark). */
  readonly event: JsonObject | undefined;
  readonly text: string;
  /** The first bytes of a frame that was cut in the middle; `text` is empty then. */
  readonly partial?: Buffer;
  readonly delta: boolean;
}

/** What the writer does when it gets there. */
type Ending = "end" | "cut" | "reset" | "stall";

export interface Script {
  readonly frames: readonly Frame[];
  readonly ending: Ending;
  readonly splitBytes: number | undefined;
  readonly delayMs: number | undefined;
  /** Terminal event that a client can have read whole, if any. */
  readonly terminal: string | undefined;
  /** Its place among the frames, or -1. */
  readonly terminalAt: number;
}

const terminals = new Set(["response.completed", "response.incomplete", "response.failed"]);

export function flatten(faults: readonly Fault[]): readonly Fault[] {
  return faults.flatMap((fault) => (fault.type === "all" ? flatten(fault.faults) : [fault]));
}

export function toScript(
  events: readonly StreamEvent[],
  faults: readonly Fault[],
  options: { readonly doneMarker: boolean; readonly seed: string },
): Script {
  let list = events;
  for (const fault of faults) list = alter(list, fault, options.seed);
  const newline = faults.some((fault) => fault.type === "crlf") ? "\r\n" : "\n";
  const broken = faults.flatMap((fault) => (fault.type === "bad-json" ? [at(list, fault.index)] : []));
  let frames: Frame[] = list.map(
    (event, index) => new EventFrame(event, { index, newline, broken: broken.includes(index) }),
  );
  if (options.doneMarker)
    frames.push({ type: "", event: undefined, text: `data: [DONE]${newline}${newline}`, delta: false });
  if (faults.some((fault) => fault.type === "bom"))
    frames.unshift({ type: "", event: undefined, text: "\uFEFF", delta: false });
  let ending: Ending = "end";
  for (const fault of faults) {
    if (!("at" in fault)) continue;
    frames = cutFrames(frames, list, fault.at);
    ending = fault.type;
  }
  const split = faults.find((fault) => fault.type === "split");
  const slow = faults.find((fault) => fault.type === "slow");
  const terminalAt = frames.findIndex((frame) => terminals.has(frame.type) && frame.partial === undefined);
  return {
    frames,
    ending,
    splitBytes: split?.type === "split" ? split.bytes : undefined,
    delayMs: slow?.type === "slow" ? slow.delayMs : undefined,
    terminal: terminalAt === -1 ? undefined : frames[terminalAt]?.type,
    terminalAt,
  };
}

/** The same for a body that is no stream. Items and events do not exist there: such a cut falls in the middle. */
export function toBodyScript(
  text: string,
  options: { readonly faults: readonly Fault[]; readonly outcome: string },
): Script | undefined {
  const { faults } = options;
  const fault = faults.find((one) => "at" in one);
  const slow = faults.find((one) => one.type === "slow");
  if (fault === undefined && slow === undefined) return undefined;
  const whole: Frame = { type: "", event: undefined, text, delta: slow !== undefined };
  const count = fault?.at.unit === "byte" ? fault.at.index : Math.floor(Buffer.byteLength(text) / 2);
  return {
    frames: fault === undefined ? [whole] : cutBytes([whole], count),
    ending: fault?.type ?? "end",
    splitBytes: undefined,
    delayMs: slow?.delayMs,
    terminal: fault === undefined ? `response.${options.outcome}` : undefined,
    terminalAt: fault === undefined ? 0 : -1,
  };
}

/**
 * Numbered and rendered when it is its turn: hundreds of streams that begin at once must not wait for each other's
 * text (measured: 1.2 ms per response of 300 deltas when all was done at the start).
 */
class EventFrame implements Frame {
  readonly #source: StreamEvent;
  readonly #options: { readonly index: number; readonly newline: string; readonly broken: boolean };

  constructor(
    source: StreamEvent,
    options: { readonly index: number; readonly newline: string; readonly broken: boolean },
  ) {
    this.#source = source;
    this.#options = options;
  }

  get delta(): boolean {
    return this.#source.delta === true;
  }

  get type(): string {
    return String(this.#source.body["type"]);
  }

  get event(): JsonObject {
    return numbered(this.#source.body, this.#options.index);
  }

  get text(): string {
    const { newline, broken } = this.#options;
    const json = JSON.stringify(this.event);
    const data = broken ? json.slice(0, Math.floor(json.length / 2)) : json;
    return `event: ${this.type}${newline}data: ${data}${newline}${newline}`;
  }
}

function numbered(body: JsonObject, index: number): JsonObject {
  const { type, ...rest } = body;
  return { type, sequence_number: index, ...rest };
}

function at(list: readonly unknown[], index: number): number {
  return index < 0 ? list.length + index : index;
}

function alter(list: readonly StreamEvent[], fault: Fault, seed: string): readonly StreamEvent[] {
  switch (fault.type) {
    case "late-ciphertext":
      return list.map((event) => (isItemEvent(event) ? withoutCiphertext(event) : event));
    case "rotate-ids":
      return list.map((event, index) => rotated(event, `${seed}${index}`, fault.length ?? 416));
    case "done-only":
      return list.filter((event) => event.item === undefined || isItemEvent(event));
    case "no-terminal":
      return list.filter((event) => !isTerminal(event));
    case "empty-output":
      return list.map((event) => (isTerminal(event) ? withResponse(event, { output: [] }) : event));
    case "missing-output":
      return list.map((event) => (isTerminal(event) ? withResponse(event, { output: undefined }) : event));
    case "double-terminal":
      return [...list, ...list.filter(isTerminal)];
    case "unknown-event":
      return inserted(list, fault.index === undefined ? Math.min(2, list.length) : at(list, fault.index), {
        body: { type: "response.emulator_surprise", note: "clients ignore what they do not know", depth: 1 },
      });
    case "keepalive":
      return list.flatMap((event, index) =>
        (index + 1) % fault.every === 0 ? [event, { body: { type: "keepalive" } }] : [event],
      );
    case "duplicate-event": {
      const twice = list[at(list, fault.index)];
      return twice === undefined ? list : inserted(list, at(list, fault.index), twice);
    }
    case "drop-event":
      return list.filter((_, index) => index !== at(list, fault.index));
    case "swap-events": {
      const index = at(list, fault.index);
      const [first, second] = [list[index], list[index + 1]];
      if (first === undefined || second === undefined) return list;
      return [...list.slice(0, index), second, first, ...list.slice(index + 2)];
    }
    case "none":
    case "all":
    case "end":
    case "cut":
    case "reset":
    case "stall":
    case "slow":
    case "http":
    case "html":
    case "incomplete":
    case "failed":
    case "error-event":
    case "invalid-encrypted-content":
    case "rotate-key":
    case "unknown-item":
    case "bad-json":
    case "crlf":
    case "bom":
    case "split":
      return list; // decided before the events exist, or about bytes
    default:
      return assertNever(fault, "fault");
  }
}

function inserted(list: readonly StreamEvent[], index: number, event: StreamEvent): readonly StreamEvent[] {
  return [...list.slice(0, index), event, ...list.slice(index)];
}

function isItemEvent(event: StreamEvent): boolean {
  return String(event.body["type"]).startsWith("response.output_item.");
}

function isTerminal(event: StreamEvent): boolean {
  return terminals.has(String(event.body["type"]));
}

function withResponse(event: StreamEvent, change: JsonObject): StreamEvent {
  const response = isObject(event.body["response"]) ? event.body["response"] : {};
  return { ...event, body: { ...event.body, response: { ...response, ...change } } };
}

function withoutCiphertext(event: StreamEvent): StreamEvent {
  if (!isObject(event.body["item"])) return event;
  const { encrypted_content: _, ...item } = event.body["item"];
  return { ...event, body: { ...event.body, item } };
}

/** Copilot's ids are long and change from event to event; only output_index holds an item together (I08). */
function rotated(event: StreamEvent, seed: string, length: number): StreamEvent {
  const body = { ...event.body } as Record<string, unknown>;
  const fresh = (salt: string): string =>
    Buffer.from(`${seed}:${salt}:`.repeat(Math.ceil(length / 4)))
      .toString("base64url")
      .slice(0, length);
  if (typeof body["item_id"] === "string") body["item_id"] = fresh("item_id");
  if (isObject(body["item"])) body["item"] = { ...body["item"], id: fresh("item") };
  if (isObject(body["response"])) {
    const output: unknown = body["response"]["output"];
    body["response"] = {
      ...body["response"],
      id: fresh("response"),
      output: Array.isArray(output)
        ? output.map((item: unknown, index) =>
            isObject(item) ? { ...item, id: fresh(`output${index}`) } : item,
          )
        : output,
    };
  }
  return { ...event, body };
}

function cutFrames(frames: readonly Frame[], list: readonly StreamEvent[], point: FaultPoint): Frame[] {
  if (point.unit === "byte") return cutBytes(frames, point.index);
  const offset = frames.length > 0 && frames[0]?.event === undefined ? 1 : 0; // a byte order mark is no event
  if (point.unit === "event") {
    return frames.slice(0, offset + point.index + (point.where === "after" ? 1 : 0));
  }
  const ofItem = (event: StreamEvent): boolean => event.item === point.index;
  const edge = point.where === "before" ? list.findIndex(ofItem) : list.findLastIndex(ofItem) + 1;
  // An item that does not exist: the cut falls before the terminal event, where every item is over.
  const terminal = list.findIndex(isTerminal);
  return frames.slice(0, offset + (edge <= 0 ? (terminal === -1 ? list.length : terminal) : edge));
}

function cutBytes(frames: readonly Frame[], count: number): Frame[] {
  const kept: Frame[] = [];
  let left = count;
  for (const frame of frames) {
    const bytes = Buffer.from(frame.text);
    if (bytes.length > left) {
      // Bytes and not text: the cut may fall inside a character.
      const { type, event, delta } = frame;
      if (left > 0) kept.push({ type, event, delta, text: "", partial: bytes.subarray(0, left) });
      return kept;
    }
    kept.push(frame);
    left -= bytes.length;
  }
  return kept;
}
