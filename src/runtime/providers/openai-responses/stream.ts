/**
 * Frames of a Responses stream → stream events.
 *
 * Events are correlated by `output_index` only: on some servers ids rotate within one stream (failures.md I08). An item
 * counts once its `output_item.done` arrived, or if the terminal event lists it although `done` never arrived. There is
 * exactly one terminal state: the first terminal event, an error, or "cut" when the bytes end. A second
 * `response.created` either repeats the first or splices in another response; items of the abandoned response are never
 * paired with the live one's. Each frame is parsed once, and items are sliced out of it as exact text.
 */

import type { ResponseStatus } from "../../../base/events/index.ts";
import {
  arrayOf,
  isObject,
  isThroughlineError,
  memberSpan,
  type JsonObject,
  numberOf,
  objectOf,
  sliceMember,
  stayCompiled,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { RESPONSES_EVENTS, type SseFrame } from "../../wire/index.ts";
import { streamError } from "../errors.ts";
import { isNameless, NAMELESS } from "../nameless-call.ts";
import type { DeltaChannel, ItemDraft, StreamDecoder, StreamEnd, StreamEvent } from "../provider.ts";
import { UnknownCounts } from "../unknown-counts.ts";
import { clientCall } from "./client-calls.ts";
import { DeltaShapes, type ReadText } from "./delta-shapes.ts";
import { itemDraft } from "./item-draft.ts";
import { parseFrame, responseIn } from "./parse-frame.ts";
import { compareWithTerminal } from "./terminal-items.ts";
import { type ItemKind, kindOf, TEXT_EVENTS, type TextSource } from "./text-events.ts";
import { usageOf } from "./usage.ts";

type AssistantDraft = Extract<ItemDraft, { readonly type: "assistant_message" }>;

interface OpenItem {
  readonly kind: ItemKind;
  /** By channel and part. */
  readonly streamed: Map<string, Streamed>;
  done: ItemDraft | undefined;
}

/** What was passed on of one part of an item. */
interface Streamed {
  readonly outputIndex: number;
  readonly channel: DeltaChannel;
  readonly part: number;
  announced: boolean;
  characters: number;
}

export class ResponsesDecoder implements StreamDecoder {
  readonly #items = new Map<number, OpenItem>();
  readonly #unknown = new UnknownCounts();
  /** Long strings of large events, known to be plain. */
  readonly #payloads: string[] = [];
  readonly #shapes = new DeltaShapes();
  /** The part that the last delta belongs to, while its item is open. */
  #growing: Streamed | undefined;
  #facts: Pick<StreamEnd, "providerResponseId" | "servedModel" | "reasoningContext"> = {};
  #error: ReturnType<typeof streamError> | undefined;
  #begun = false;
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  feed(frames: readonly SseFrame[]): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    for (let at = 0; at < frames.length; at += 1) {
      const { data } = frames[at] as SseFrame;
      const delta = this.#ended ? undefined : this.#shapes.read(data);
      if (delta !== undefined) this.#text(delta, events);
      else if (data !== "[DONE]") this.#parsed(data, events);
    }
    return events;
  }

  /** Takes a whole response object, the non-streaming form. */
  feedResponse(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const value = tryParseJson(text);
    if (!isObject(value) || value["object"] !== "response")
      this.#fail("the answer is not a response object", events);
    else this.#terminal(value, () => text, undefined, events);
    return events;
  }

  /** Without a terminal event the response counts as cut, however complete it looks (failures.md R01). */
  close(): readonly StreamEvent[] {
    if (this.#ended) return [];
    const error = this.#error ?? {
      code: "stream_cut",
      message: "the stream ended before the response did",
      class: "TRUNC" as const,
    };
    return [this.#end({ status: this.#error === undefined ? "cut" : "failed", error })];
  }

  #parsed(data: string, events: StreamEvent[]): void {
    const value = parseFrame(data, this.#payloads);
    const type = isObject(value) ? stringOf(value["type"]) : undefined;
    if (!isObject(value) || type === undefined) {
      this.#fail(`an event is not a JSON object with a type: ${data.slice(0, 64 * 1024)}`, events);
      return;
    }
    const source = TEXT_EVENTS.get(type);
    if (source !== undefined && !this.#ended) {
      if (source.field === "delta") this.#shapes.learn(data, value, source);
      this.#text(textIn(source, value), events);
      return;
    }
    if (this.#ended || !RESPONSES_EVENTS.has(type)) {
      this.#unknown.add(this.#ended ? `after the end: ${type}` : type);
      return;
    }
    try {
      this.#known(type, value, data, events);
    } catch (error) {
      if (!isThroughlineError(error)) throw error;
      this.#fail(error.message, events);
    }
  }

  #known(type: string, value: JsonObject, data: string, events: StreamEvent[]): void {
    switch (type) {
      case "response.created":
        this.#created(responseIn(value, data), events);
        break;
      case "response.in_progress":
      case "response.queued":
        this.#takeFacts(responseIn(value, data));
        break;
      case "response.output_item.added":
        this.#added(value, events);
        break;
      case "response.output_item.done":
        this.#done(value, data, events);
        break;
      case "response.completed":
        this.#terminalEvent(value, data, "completed", events);
        break;
      case "response.incomplete":
        this.#terminalEvent(value, data, "incomplete", events);
        break;
      case "response.failed":
        this.#terminalEvent(value, data, "failed", events);
        break;
      case "error":
        // A response.failed usually follows (failures.md R06); if not, `close` reports the error.
        this.#error = streamError(value);
        break;
      default: // known, but not needed before the item is done
    }
  }

  /** A repeated id is the same response; a new id is the live one, and everything before it is discarded (R13). */
  #created(response: JsonObject, events: StreamEvent[]): void {
    if (this.#begun) {
      const repeated = stringOf(response["id"]) === this.#facts.providerResponseId;
      this.#unknown.add(repeated ? "repeated response.created" : "spliced response.created");
      if (repeated) return;
      if (this.#items.size > 0) events.push({ type: "restart" });
      this.#items.clear();
      this.#growing = undefined;
      this.#error = undefined;
      this.#facts = {};
    }
    this.#begun = true;
    this.#takeFacts(response);
  }

  #added(event: JsonObject, events: StreamEvent[]): void {
    const item = objectOf(event["item"] ?? event["output_item"]);
    const itemType = stringOf(item["type"]) ?? "";
    const call = clientCall(itemType, { read: (key) => item[key], text: () => undefined });
    this.#start(indexOf(event), kindOf(itemType, call), events, {
      name: call?.name || stringOf(item["name"]),
      callId: stringOf(item["call_id"]),
      phase: stringOf(item["phase"]),
      ...(call?.custom === true ? { custom: true } : {}),
    });
  }

  #start(
    outputIndex: number,
    kind: ItemKind,
    events: StreamEvent[],
    facts: {
      readonly name?: string | undefined;
      readonly callId?: string | undefined;
      readonly phase?: string | undefined;
      readonly custom?: true | undefined;
    } = {},
  ): OpenItem {
    const known = this.#items.get(outputIndex);
    if (known !== undefined) return known;
    const item: OpenItem = { kind, streamed: new Map(), done: undefined };
    this.#items.set(outputIndex, item);
    events.push({ type: "item_start", outputIndex, kind, ...facts });
    return item;
  }

  #text({ source, outputIndex, part, text }: ReadText, events: StreamEvent[]): void {
    const { channel, whole } = source;
    let streamed = this.#growing;
    if (streamed?.outputIndex !== outputIndex || streamed.part !== part || streamed.channel !== channel) {
      const item = this.#start(outputIndex, source.kind, events);
      if (item.done !== undefined) return;
      streamed = streamedOf(item, outputIndex, channel, part);
      this.#growing = streamed;
    }
    if (whole) this.#rest(streamed, text, events);
    else this.#delta(streamed, text, events);
  }

  #delta(streamed: Streamed, text: string, events: StreamEvent[]): void {
    const { outputIndex, channel, part } = streamed;
    streamed.characters += text.length;
    // A new part is announced even while it is empty: its title may arrive later.
    if (text !== "" || !streamed.announced) events.push({ type: "delta", outputIndex, channel, part, text });
    streamed.announced = true;
  }

  /** Passes on text that was not streamed, as one delta: some servers send only `done` (failures.md R05). */
  #rest(streamed: Streamed, whole: string, events: StreamEvent[]): void {
    const missing = whole.slice(streamed.characters);
    if (missing !== "") this.#delta(streamed, missing, events);
  }

  /** The draft joins all parts of a message, so their streamed characters are counted together. */
  #restOfMessage(outputIndex: number, item: OpenItem, draft: AssistantDraft, events: StreamEvent[]): void {
    const count = [...item.streamed.values()].reduce((sum, { characters }) => sum + characters, 0);
    const missing = `${draft.text}${draft.refusal ?? ""}`.slice(count);
    if (missing !== "") this.#delta(streamedOf(item, outputIndex, "text", 0), missing, events);
  }

  #done(event: JsonObject, data: string, events: StreamEvent[]): void {
    const span = memberSpan(data, "item" in event ? "item" : "output_item");
    const text = span && data.slice(span.start, span.end);
    const { output_index: outputIndex = 0 } = event;
    if (text?.startsWith("{") !== true || !isIndex(outputIndex)) {
      this.#fail("output_item.done without an item or an index", events);
      return;
    }
    this.#finish(outputIndex, text, events);
  }

  #finish(outputIndex: number, text: string, events: StreamEvent[]): void {
    const draft = this.#ownCallId(itemDraft(text, outputIndex));
    if (isNameless(draft)) {
      this.#fail(NAMELESS, events);
      return;
    }
    const item = this.#start(
      outputIndex,
      kindOf(draft.itemType, draft.type === "tool_call" ? draft : undefined),
      events,
      draft.type === "tool_call" ? { name: draft.name, custom: draft.custom } : {},
    );
    if (item.done !== undefined) {
      this.#unknown.add("repeated output_item.done");
      return;
    }
    if (draft.type === "assistant_message") this.#restOfMessage(outputIndex, item, draft, events);
    for (const [channel, part, whole] of textsOf(draft))
      this.#rest(streamedOf(item, outputIndex, channel, part), whole, events);
    item.done = draft;
    this.#growing = undefined;
    if (draft.type === "other_item") this.#unknown.add(`item ${draft.itemType}`);
    events.push({ type: "item_done", outputIndex, draft });
  }

  /** Two calls with one call id would share a result, so the second gets its index appended (failures.md T07). */
  #ownCallId(draft: ItemDraft): ItemDraft {
    if (draft.type !== "tool_call") return draft;
    const taken = [...this.#items].some(
      ([index, { done }]) =>
        index !== draft.outputIndex && done?.type === "tool_call" && done.callId === draft.callId,
    );
    return taken ? { ...draft, callId: `${draft.callId || "call"}_${draft.outputIndex}` } : draft;
  }

  #terminalEvent(value: JsonObject, data: string, told: ResponseStatus, events: StreamEvent[]): void {
    this.#terminal(responseIn(value, data), () => sliceMember(data, "response") ?? "{}", told, events);
  }

  #terminal(
    response: JsonObject,
    text: () => string,
    told: ResponseStatus | undefined,
    events: StreamEvent[],
  ): void {
    this.#takeFacts(response);
    const status = statusOf(stringOf(response["status"]), told);
    const { late, missing } = compareWithTerminal(this.#finished(), arrayOf(response["output"]).length, text);
    if (status === "completed")
      for (const { position, item } of missing) this.#finish(this.#freeIndex(position), item, events);
    const reason = stringOf(objectOf(response["incomplete_details"])["reason"]);
    const failure = response["error"];
    const error =
      status === "failed" || status === "cancelled"
        ? isObject(failure)
          ? streamError(failure)
          : this.#error
        : undefined;
    const usage = usageOf(response["usage"]);
    events.push(
      this.#end({
        status,
        reason,
        usage,
        ...(error === undefined ? {} : { error: { ...this.#error, ...error } }),
        ...(late.length === 0 ? {} : { late }),
      }),
    );
  }

  #finished(): readonly ItemDraft[] {
    return [...this.#items.values()]
      .flatMap(({ done }) => (done === undefined ? [] : [done]))
      .toSorted((a, b) => a.outputIndex - b.outputIndex);
  }

  #freeIndex(position: number): number {
    const taken = this.#items.get(position);
    return taken?.done === undefined ? position : Math.max(...this.#items.keys()) + 1;
  }

  #takeFacts(response: JsonObject): void {
    const before = this.#facts;
    this.#facts = {
      providerResponseId: stringOf(response["id"]) ?? before.providerResponseId,
      servedModel: stringOf(response["model"]) ?? before.servedModel,
      reasoningContext: stringOf(objectOf(response["reasoning"])["context"]) ?? before.reasoningContext,
    };
  }

  #fail(message: string, events: StreamEvent[]): void {
    if (this.#ended) return;
    events.push(this.#end({ status: "failed", error: { code: "bad_event", message, class: "TRUNC" } }));
  }

  #end(end: StreamEnd): StreamEvent {
    this.#ended = true;
    return { type: "end", end: { ...this.#facts, ...end, ...this.#unknown.asField() } };
  }
}

stayCompiled(new ResponsesDecoder());

function statusOf(said: string | undefined, told: ResponseStatus | undefined): ResponseStatus {
  // The object's own status wins over the event's name: an incomplete response in a `completed` event is incomplete
  // (R02).
  if (said === "completed" || said === "incomplete" || said === "failed" || said === "cancelled") return said;
  return told ?? "cut";
}

function streamedOf(item: OpenItem, outputIndex: number, channel: DeltaChannel, part: number): Streamed {
  const key = `${channel}${part}`;
  const known = item.streamed.get(key);
  if (known !== undefined) return known;
  const streamed = { outputIndex, channel, part, announced: false, characters: 0 };
  item.streamed.set(key, streamed);
  return streamed;
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function textIn(source: TextSource, event: JsonObject): ReadText {
  return {
    source,
    outputIndex: indexOf(event),
    part: source.part === undefined ? 0 : (numberOf(event[source.part]) ?? 0),
    text: stringOf(event[source.field]) ?? "",
  };
}

function indexOf(event: JsonObject): number {
  return numberOf(event["output_index"]) ?? 0;
}

function textsOf(draft: ItemDraft): readonly (readonly [DeltaChannel, number, string])[] {
  if (draft.type === "tool_call") return [["arguments", 0, draft.arguments]];
  if (draft.type !== "reasoning") return [];
  const counts = { summary: 0, text: 0 };
  return draft.parts.map(({ kind, text }) => [
    kind === "summary" ? "summary" : "reasoning",
    counts[kind]++,
    text,
  ]);
}
