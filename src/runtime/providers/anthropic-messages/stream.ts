/**
 * Frames of a Messages stream → stream events.
 *
 * A block counts once its `content_block_stop` arrived, the response once `message_stop` arrived. A second
 * `message_start` either repeats the first or splices in another message; blocks of the abandoned message never mix
 * with the live one. Unknown events, blocks and deltas are kept or counted and never throw.
 */

import type { ErrorInfo, ResponseStatus } from "../../../base/events/index.ts";
import {
  isObject,
  isThroughlineError,
  type JsonObject,
  numberOf,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import type { SseFrame } from "../../wire/index.ts";
import { streamError } from "../errors.ts";
import { isNameless, NAMELESS } from "../nameless-call.ts";
import type { StreamDecoder, StreamEnd, StreamEvent } from "../provider.ts";
import { UnknownCounts } from "../unknown-counts.ts";
import { blockDraft } from "./item-draft.ts";
import { MessageFacts } from "./message-facts.ts";
import { OpenBlock } from "./open-block.ts";

export class MessagesDecoder implements StreamDecoder {
  readonly #open = new Map<number, OpenBlock>();
  readonly #seen = new Set<number>();
  readonly #callIds = new Set<string>();
  readonly #unknown = new UnknownCounts();
  /** Blocks that `message_start` carried whole; undefined for each that is streamed as well. */
  #given: (string | undefined)[] = [];
  /** Added to the index of streamed blocks, if the server counts them from 0 after the given ones. */
  #shift = 0;
  #facts = new MessageFacts({});
  #begun = false;
  #stop: { readonly reason: string; readonly details: JsonObject } | undefined;
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  feed(frames: readonly SseFrame[]): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const frame of frames) this.#frame(frame.data, events);
    return events;
  }

  /** Takes a whole message object, the non-streaming form. */
  feedResponse(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const message = tryParseJson(text);
    if (!isObject(message) || message["type"] !== "message") {
      this.#fail("bad_event", "the answer is not a message object", events);
      return events;
    }
    this.#message(message, text);
    this.#takeStop(message);
    this.#close(events);
    return events;
  }

  close(): readonly StreamEvent[] {
    if (this.#ended) return [];
    const message = "the stream ended before the message did";
    return [this.#end({ status: "cut", error: { code: "stream_cut", message, class: "TRUNC" } })];
  }

  #frame(data: string, events: StreamEvent[]): void {
    const value = tryParseJson(data);
    const type = isObject(value) ? stringOf(value["type"]) : undefined;
    if (!isObject(value) || type === undefined) {
      this.#fail(
        "bad_event",
        `an event is not a JSON object with a type: ${data.slice(0, 64 * 1024)}`,
        events,
      );
      return;
    }
    if (this.#ended) {
      this.#unknown.add(`after the end: ${type}`);
      return;
    }
    try {
      this.#known(type, value, data, events);
    } catch (error) {
      if (!isThroughlineError(error)) throw error;
      this.#fail(error.code, error.message, events);
    }
  }

  #known(type: string, value: JsonObject, data: string, events: StreamEvent[]): void {
    switch (type) {
      case "message_start":
        this.#messageStart(objectOf(value["message"]), sliceMember(data, "message") ?? "{}", events);
        break;
      case "content_block_start":
        this.#blockStart(value, data, events);
        break;
      case "content_block_delta":
        this.#delta(value, data, events);
        break;
      case "content_block_stop":
        this.#finish(this.#shift + indexOf(value), events);
        break;
      case "message_delta":
        this.#facts.delta(value);
        this.#takeStop(objectOf(value["delta"]));
        break;
      case "message_stop":
        this.#close(events);
        break;
      case "error":
        events.push(this.#end({ status: "failed", error: streamError(value) }));
        break;
      case "ping":
        break;
      default:
        this.#unknown.add(type);
    }
  }

  /** A repeated id is the same message; a new id is the live message, and everything before it is discarded (R13). */
  #messageStart(message: JsonObject, text: string, events: StreamEvent[]): void {
    if (this.#begun) {
      const repeated = stringOf(message["id"]) === this.#facts.id;
      this.#unknown.add(repeated ? "repeated message_start" : "spliced message_start");
      if (repeated) return;
      if (this.#seen.size > 0) events.push({ type: "restart" });
      for (const state of [this.#open, this.#seen, this.#callIds]) state.clear();
      this.#stop = undefined;
      this.#shift = 0;
    }
    this.#message(message, text);
    this.#takeStop(message); // already set if the whole message was available at the start
  }

  /**
   * A response that continues running code starts with blocks that are already whole (vercel/ai#14717,
   * langchain#34406).
   */
  #message(message: JsonObject, text: string): void {
    this.#begun = true;
    this.#facts = new MessageFacts(message);
    this.#given = [...sliceArray(sliceMember(text, "content") ?? "[]")];
  }

  #blockStart(value: JsonObject, data: string, events: StreamEvent[]): void {
    const block = sliceMember(data, "content_block");
    if (block?.startsWith("{") !== true) {
      this.#fail("bad_event", "content_block_start without a block", events);
      return;
    }
    const content = objectOf(value["content_block"]);
    const given = this.#given[this.#shift + indexOf(value)];
    // A given block that is also streamed counts once; any other is a new block after all given ones.
    if (given !== undefined && isSame(objectOf(tryParseJson(given)), content))
      this.#given[this.#shift + indexOf(value)] = undefined;
    else if (given !== undefined) this.#shift = this.#given.length;
    const index = this.#shift + indexOf(value);
    if (this.#seen.has(index)) this.#unknown.add("repeated content_block_start");
    else this.#begin(index, block, content, events);
  }

  #begin(outputIndex: number, text: string, block: JsonObject, events: StreamEvent[]): void {
    const open = new OpenBlock(text, block);
    this.#open.set(outputIndex, open);
    this.#seen.add(outputIndex);
    const { kind } = open;
    const called =
      kind === "tool_call" ? { name: stringOf(block["name"]), callId: stringOf(block["id"]) } : {};
    events.push({ type: "item_start", outputIndex, kind, ...called });
    if (open.opening !== "") {
      const channel = open.kind === "reasoning" ? "reasoning" : "text";
      events.push({ type: "delta", outputIndex, channel, part: 0, text: open.opening });
    }
  }

  #delta(value: JsonObject, data: string, events: StreamEvent[]): void {
    const outputIndex = this.#shift + indexOf(value);
    const delta = objectOf(value["delta"]);
    const open = this.#open.get(outputIndex);
    const taken = open?.take(delta, data);
    if (taken === undefined) this.#unknown.add(`delta ${stringOf(delta["type"]) ?? "unknown"}`);
    else if (taken !== "silent" && taken.text !== "")
      events.push({ type: "delta", outputIndex, channel: taken.channel, part: 0, text: taken.text });
  }

  #finish(outputIndex: number, events: StreamEvent[]): void {
    const open = this.#open.get(outputIndex);
    if (open === undefined) {
      this.#unknown.add("repeated content_block_stop");
      return;
    }
    this.#open.delete(outputIndex);
    const text = open.finish();
    let draft = blockDraft(text, outputIndex);
    if (isNameless(draft)) {
      this.#fail("bad_event", NAMELESS, events);
      return;
    }
    if (draft.type === "tool_call") {
      // Two calls with one id would share a result, so the second gets its index appended (T07).
      if (this.#callIds.has(draft.callId)) draft = { ...draft, callId: `${draft.callId}_${outputIndex}` };
      this.#callIds.add(draft.callId);
      draft = { ...draft, arguments: open.written ?? draft.arguments };
    }
    if (draft.type === "other_item") this.#unknown.add(`item ${draft.itemType}`);
    if (draft.type === "hosted_item") this.#facts.block(draft.itemType, text);
    events.push({ type: "item_done", outputIndex, draft });
  }

  #takeStop(delta: JsonObject): void {
    const reason = stringOf(delta["stop_reason"]);
    if (reason !== undefined) this.#stop = { reason, details: objectOf(delta["stop_details"]) };
  }

  #close(events: StreamEvent[]): void {
    for (const [index, block] of this.#given.entries()) {
      if (block === undefined) continue;
      this.#begin(index, block, objectOf(tryParseJson(block)), events);
      this.#finish(index, events);
    }
    if (this.#ended) return;
    if (this.#open.size > 0) {
      this.#fail("stream_cut", "the message ended while a block was open", events);
      return;
    }
    // Like a chat response without a finish_reason: it is unknown whether it was whole, refused or cut off.
    if (this.#stop === undefined) {
      this.#fail("stream_cut", "the message ended without saying why it stopped", events);
      return;
    }
    const { reason, details } = this.#stop;
    const known = Object.hasOwn(STOPS, reason) ? STOPS[reason] : undefined;
    if (known === undefined) this.#unknown.add(`stop_reason ${reason}`);
    const { status, reason: told } = known ?? { status: "completed" as const, reason: undefined };
    const error = status === "failed" ? refusalOf(details) : undefined;
    events.push(this.#end({ status, reason: told, error }));
  }

  #fail(code: string, message: string, events: StreamEvent[]): void {
    if (this.#ended) return;
    events.push(this.#end({ status: "cut", error: { code, message, class: "TRUNC" } }));
  }

  #end(end: StreamEnd): StreamEvent {
    this.#ended = true;
    return { type: "end", end: { ...this.#facts.asEnd(), ...this.#unknown.asField(), ...end } };
  }
}

/** Nothing builds on a refused answer: its content stays out of later requests, and the turn reports it. */
const STOPS: Readonly<Record<string, { readonly status: ResponseStatus; readonly reason?: string }>> = {
  end_turn: { status: "completed" },
  tool_use: { status: "completed" },
  stop_sequence: { status: "completed" },
  pause_turn: { status: "completed", reason: "pause_turn" },
  compaction: { status: "completed", reason: "compaction" },
  max_tokens: { status: "incomplete", reason: "max_output_tokens" },
  model_context_window_exceeded: { status: "incomplete", reason: "context" },
  refusal: { status: "failed", reason: "refusal" },
};

function refusalOf(details: JsonObject): ErrorInfo {
  const category = stringOf(details["category"]);
  return {
    code: "refusal",
    message: `the model declined to answer${category === undefined ? "" : ` (${category})`}: change or undo the message`,
    class: "OTHER",
  };
}

function indexOf(value: JsonObject): number {
  const index = numberOf(value["index"]) ?? 0;
  return Number.isSafeInteger(index) && index >= 0 ? index : 0;
}

/** Compares blocks by id; a block without one is the same only while it is empty. */
function isSame(given: JsonObject, streamed: JsonObject): boolean {
  if (given["type"] !== streamed["type"]) return false;
  const name = given["id"] ?? given["tool_use_id"];
  if (name !== undefined) return name === (streamed["id"] ?? streamed["tool_use_id"]);
  return [given["text"], given["thinking"]].every((text) => text === undefined || text === "");
}
