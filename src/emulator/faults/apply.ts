/**
 * Applies faults to a finished response: first to the list of events, then to the bytes. Pure; the writer only plays
 * the resulting script.
 */

import { assertNever, type JsonObject } from "../../base/support/index.ts";
import { CHAT_DONE } from "../chat/vocabulary.ts";
import type { StreamEvent, StreamForm } from "../output/stream-event.ts";
import type { Outcome } from "../report.ts";
import type { Fault, FaultPoint } from "./fault.ts";

interface Frame {
  readonly terminal?: StreamEvent["terminal"];
  /** `undefined` for a frame that is not an event (a byte order mark). */
  readonly event: JsonObject | undefined;
  readonly text: string;
  /** The first bytes of a frame that was cut in the middle; `text` is then empty. */
  readonly partial?: Buffer;
  readonly delta: boolean;
}

/** The writer's action after the last frame. */
type Ending = "end" | "cut" | "reset" | "stall";

export interface Script {
  readonly frames: readonly Frame[];
  readonly ending: Ending;
  readonly splitBytes: number | undefined;
  readonly delayMs: number | undefined;
  /** The outcome for a client that has read the whole terminal event, if there is one. */
  readonly terminal: StreamEvent["terminal"];
  /** Its index among the frames, or -1. */
  readonly terminalAt: number;
}

export function flatten(faults: readonly Fault[]): readonly Fault[] {
  return faults.flatMap((fault) => (fault.type === "all" ? flatten(fault.faults) : [fault]));
}

export function toScript(
  events: readonly StreamEvent[],
  faults: readonly Fault[],
  options: { readonly form: StreamForm; readonly seed: string },
): Script {
  const { form } = options;
  let list = events;
  for (const fault of faults) list = form.alter(alter(list, fault, form), fault, options.seed);
  const newline = faults.some((fault) => fault.type === "crlf") ? "\r\n" : "\n";
  const broken = faults.flatMap((fault) => (fault.type === "bad-json" ? [at(list, fault.index)] : []));
  let frames: Frame[] = list.map(
    (event, index) => new EventFrame(event, { form, index, newline, broken: broken.includes(index) }),
  );
  if (form.doneMarker)
    frames.push({ event: undefined, text: `data: ${CHAT_DONE}${newline}${newline}`, delta: false });
  if (faults.some((fault) => fault.type === "bom"))
    frames.unshift({ event: undefined, text: "\uFEFF", delta: false });
  let ending: Ending = "end";
  for (const fault of faults) {
    if (!("at" in fault)) continue;
    frames = cutFrames(frames, list, fault.at);
    ending = fault.type;
  }
  const split = faults.find((fault) => fault.type === "split");
  const slow = faults.find((fault) => fault.type === "slow");
  const terminalAt = frames.findIndex((frame) => frame.terminal !== undefined && frame.partial === undefined);
  return {
    frames,
    ending,
    splitBytes: split?.type === "split" ? split.bytes : undefined,
    delayMs: slow?.type === "slow" ? slow.delayMs : undefined,
    terminal: terminalAt === -1 ? undefined : frames[terminalAt]?.terminal,
    terminalAt,
  };
}

/** The same for a non-streaming body. It has no items or events, so such a cut falls in the middle. */
export function toBodyScript(
  text: string,
  options: { readonly faults: readonly Fault[]; readonly outcome: Outcome },
): Script | undefined {
  const { faults } = options;
  const fault = faults.find((one) => "at" in one);
  const slow = faults.find((one) => one.type === "slow");
  if (fault === undefined && slow === undefined) return undefined;
  const whole: Frame = { event: undefined, text, delta: slow !== undefined };
  const count = fault?.at.unit === "byte" ? fault.at.index : Math.floor(Buffer.byteLength(text) / 2);
  return {
    frames: fault === undefined ? [whole] : cutBytes([whole], count),
    ending: fault?.type ?? "end",
    splitBytes: undefined,
    delayMs: slow?.delayMs,
    terminal: fault === undefined ? terminalOf(options.outcome) : undefined,
    terminalAt: fault === undefined ? 0 : -1,
  };
}

function terminalOf(outcome: Outcome): StreamEvent["terminal"] {
  return outcome === "completed" || outcome === "incomplete" || outcome === "failed" ? outcome : undefined;
}

interface FrameOptions {
  readonly form: StreamForm;
  readonly index: number;
  readonly newline: string;
  readonly broken: boolean;
}

/**
 * Numbered and rendered when it is sent: hundreds of streams that begin at once must not wait for each other's text
 * (measured: 1.2 ms per response of 300 deltas if everything was rendered at the start).
 */
class EventFrame implements Frame {
  readonly #source: StreamEvent;
  readonly #options: FrameOptions;

  constructor(source: StreamEvent, options: FrameOptions) {
    this.#source = source;
    this.#options = options;
  }

  get delta(): boolean {
    return this.#source.delta === true;
  }

  get terminal(): StreamEvent["terminal"] {
    return this.#source.terminal;
  }

  get event(): JsonObject {
    const { form, index } = this.#options;
    return form.numbered ? numbered(this.#source.body, index) : this.#source.body;
  }

  get text(): string {
    const { form, newline, broken } = this.#options;
    const json = JSON.stringify(this.event);
    const data = broken ? json.slice(0, Math.floor(json.length / 2)) : json;
    const name = form.named ? `event: ${String(this.#source.body["type"])}${newline}` : "";
    return `${name}data: ${data}${newline}${newline}`;
  }
}

function numbered(body: JsonObject, index: number): JsonObject {
  const { type, ...rest } = body;
  return { type, sequence_number: index, ...rest };
}

function at(list: readonly unknown[], index: number): number {
  return index < 0 ? list.length + index : index;
}

/** The faults that every dialect can show. */
function alter(list: readonly StreamEvent[], fault: Fault, form: StreamForm): readonly StreamEvent[] {
  switch (fault.type) {
    case "no-terminal":
      return list.filter((event) => !isTerminal(event));
    case "double-terminal":
      return [...list, ...list.filter(isTerminal)];
    case "spliced-start":
      return [...list.slice(0, fault.events).map((event) => form.ofAnother(event)), ...list];
    case "unknown-event":
      return inserted(list, fault.index === undefined ? Math.min(2, list.length) : at(list, fault.index), {
        body: form.surprise,
      });
    case "keepalive":
      return list.flatMap((event, index) =>
        (index + 1) % fault.every === 0 ? [event, { body: form.keepalive }] : [event],
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
    case "late-ciphertext":
    case "rotate-ids":
    case "done-only":
    case "empty-output":
    case "missing-output":
      return list; // `form.alter`
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

function isTerminal(event: StreamEvent): boolean {
  return event.terminal !== undefined;
}

function cutFrames(frames: readonly Frame[], list: readonly StreamEvent[], point: FaultPoint): Frame[] {
  if (point.unit === "byte") return cutBytes(frames, point.index);
  const offset = frames.length > 0 && frames[0]?.event === undefined ? 1 : 0; // a byte order mark is not an event
  if (point.unit === "event") {
    return frames.slice(0, offset + point.index + (point.where === "after" ? 1 : 0));
  }
  const ofItem = (event: StreamEvent): boolean => event.item === point.index;
  const edge = point.where === "before" ? list.findIndex(ofItem) : list.findLastIndex(ofItem) + 1;
  // If the item does not exist, the cut falls before the terminal event, after every item.
  const terminal = list.findIndex(isTerminal);
  return frames.slice(0, offset + (edge <= 0 ? (terminal === -1 ? list.length : terminal) : edge));
}

function cutBytes(frames: readonly Frame[], count: number): Frame[] {
  const kept: Frame[] = [];
  let left = count;
  for (const frame of frames) {
    const bytes = Buffer.from(frame.text);
    if (bytes.length > left) {
      // Bytes, not text: the cut may fall inside a character.
      const { event, delta } = frame;
      if (left > 0) kept.push({ event, delta, text: "", partial: bytes.subarray(0, left) });
      return kept;
    }
    kept.push(frame);
    left -= bytes.length;
  }
  return kept;
}
