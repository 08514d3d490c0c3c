/**
 * Chunks of a chat completion → stream events, for OpenAI and the vendors that use its dialect (failures.md §4).
 *
 * The answer is complete once a `finish_reason` arrived. The end is emitted at `[DONE]` or when the bytes end, because
 * the usage arrives in between. Only the first choice counts: we never request more.
 */

import type { ResponseStatus } from "../../../base/events/index.ts";
import {
  arrayOf,
  isObject,
  type JsonObject,
  jsonDepth,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import type { SseFrame } from "../../wire/index.ts";
import { streamError } from "../errors.ts";
import { MAX_ITEM_DEPTH } from "../item-depth.ts";
import { NAMELESS } from "../nameless-call.ts";
import type { StreamDecoder, StreamEnd, StreamEvent } from "../provider.ts";
import { UnknownCounts } from "../unknown-counts.ts";
import { OpenMessage } from "./open-message.ts";
import { SpliceWatch } from "./splice-watch.ts";
import { usageOf } from "./usage.ts";

export class ChatDecoder implements StreamDecoder {
  #pieces = new OpenMessage();
  readonly #watch = new SpliceWatch();
  /** The previous chunk: whether it began another answer shows only later. */
  #before: JsonObject = {};
  readonly #unknown = new UnknownCounts();
  #facts: Pick<StreamEnd, "providerResponseId" | "servedModel" | "usage"> = {};
  #finish: string | undefined;
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  feed(frames: readonly SseFrame[]): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const { data } of frames) {
      if (this.#ended) this.#unknown.add("after the end");
      else if (data.trim() === "[DONE]") this.#close(events);
      else this.#chunk(data, events);
    }
    return events;
  }

  /** Takes a whole completion, the non-streaming form. */
  feedResponse(text: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    this.#chunk(text, events);
    if (!this.#ended) this.#close(events);
    return events;
  }

  close(): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    if (!this.#ended) this.#close(events);
    return events;
  }

  #chunk(data: string, events: StreamEvent[]): void {
    const value = jsonDepth(data) > MAX_ITEM_DEPTH ? undefined : tryParseJson(data);
    if (!isObject(value)) {
      const message = `a chunk is not a JSON object: ${data.slice(0, 64 * 1024)}`;
      this.#stop({ status: "cut", error: { code: "bad_event", message, class: "TRUNC" } }, events);
      return;
    }
    if (value["error"] !== undefined && value["error"] !== null) {
      this.#stop({ status: "failed", error: streamError(value) }, events);
      return;
    }
    this.#followAnother(value, events);
    this.#take(value, events);
    this.#before = value;
  }

  /** Switches to a spliced answer: the content of the abandoned one is not part of it (failures.md R13). */
  #followAnother(value: JsonObject, events: StreamEvent[]): void {
    const [choice] = arrayOf(value["choices"]).map(objectOf);
    const role = stringOf(objectOf(choice?.["delta"])["role"]) ?? "";
    const told = this.#watch.take(stringOf(value["id"]) ?? "", role !== "");
    if (told === "goes_on" || this.#finish !== undefined) return;
    if (this.#pieces.begun) events.push({ type: "restart" });
    this.#unknown.add("spliced answer");
    this.#pieces = new OpenMessage();
    this.#facts = {};
    if (told === "began") this.#take(this.#before, events);
  }

  #take(value: JsonObject, events: StreamEvent[]): void {
    this.#takeFacts(value);
    const [choice] = arrayOf(value["choices"]).map(objectOf);
    if (choice === undefined) return;
    this.#delta(objectOf(choice["delta"] ?? choice["message"]), events);
    const reason = stringOf(choice["finish_reason"]);
    if (reason !== undefined && reason !== "" && this.#finish === undefined) {
      this.#finish = reason;
      this.#pieces.finish(events);
    }
  }

  #delta(delta: JsonObject, events: StreamEvent[]): void {
    if (this.#finish !== undefined) {
      if (
        Object.values(delta).some(
          (value) => typeof value === "string" && value !== "" && value !== "assistant",
        )
      )
        this.#unknown.add("delta after finish_reason");
      return;
    }
    for (const key of Object.keys(delta))
      if (!KNOWN.has(key) && delta[key] !== null) this.#unknown.add(`delta ${key}`);
    this.#thoughts(delta, events);
    this.#content(delta, events);
    for (const call of arrayOf(delta["tool_calls"]).filter(isObject)) this.#pieces.call(call, events);
    if (isObject(delta["function_call"]))
      this.#pieces.call({ index: 0, function: delta["function_call"] }, events);
  }

  /**
   * One chunk may repeat the same text in several fields: it is shown once, and every field is kept (failures.md V06).
   */
  #thoughts(delta: JsonObject, events: StreamEvent[]): void {
    const details = arrayOf(delta["reasoning_details"]).filter(isObject);
    const blocks = arrayOf(delta["thinking_blocks"]).filter(isObject);
    const words = TEXT_FIELDS.map((field) => [field, stringOf(delta[field]) ?? ""] as const).filter(
      ([field, text]) => text !== "" || field === "reasoning_content",
    );
    const shown = words.find(([, text]) => text !== "")?.[1];
    if (details.length > 0) this.#pieces.list("reasoning_details", details, shown, events);
    let told = details.length > 0;
    for (const [field, text] of words) {
      // OpenRouter's `reasoning` is a copy for people; its details are sent back.
      if (told && field === "reasoning") continue;
      if (told && text !== "" && text === shown) this.#pieces.repeat(field, text);
      else this.#pieces.think(field, text, events);
      told ||= text !== "";
    }
    if (blocks.length > 0)
      this.#pieces.list("thinking_blocks", blocks, shown === undefined ? undefined : "", events);
    const payload = stringOf(delta["reasoning_opaque"]) ?? "";
    if (payload !== "") this.#pieces.seal("reasoning_opaque", payload);
  }

  /** A string, or parts: Mistral puts its thoughts among them (failures.md V04). */
  #content(delta: JsonObject, events: StreamEvent[]): void {
    const refusal = stringOf(delta["refusal"]) ?? "";
    const { content } = delta;
    if (typeof content === "string" || refusal !== "") {
      this.#pieces.write(stringOf(content) ?? "", refusal, events);
      return;
    }
    let thoughts = 0;
    for (const part of arrayOf(content).map(objectOf)) {
      if (part["type"] === "thinking") {
        this.#pieces.thinkPart(part, thoughts > 0, events);
        thoughts += 1;
      } else if (part["type"] === "text") {
        this.#pieces.write(stringOf(part["text"]) ?? "", "", events);
      } else {
        this.#unknown.add(`part ${stringOf(part["type"]) ?? "unknown"}`);
      }
    }
  }

  #takeFacts(value: JsonObject): void {
    const before = this.#facts;
    // Moonshot reports usage inside the choice.
    const usage = usageOf(value["usage"]) ?? usageOf(objectOf(arrayOf(value["choices"])[0])["usage"]);
    this.#facts = {
      providerResponseId: stringOf(value["id"]) || before.providerResponseId,
      servedModel: stringOf(value["model"]) || before.servedModel,
      usage: usage ?? before.usage,
    };
  }

  #close(events: StreamEvent[]): void {
    if (this.#finish === undefined) {
      const message = "the stream ended before the answer did";
      this.#stop({ status: "cut", error: { code: "stream_cut", message, class: "TRUNC" } }, events);
      return;
    }
    if (this.#pieces.lacksName) {
      this.#stop({ status: "cut", error: { code: "bad_event", message: NAMELESS, class: "TRUNC" } }, events);
      return;
    }
    const known = Object.hasOwn(FINISHES, this.#finish) ? FINISHES[this.#finish] : undefined;
    if (known === undefined) this.#unknown.add(`finish_reason ${this.#finish}`);
    this.#stop(known ?? { status: "completed" }, events);
  }

  #stop(end: StreamEnd, events: StreamEvent[]): void {
    this.#ended = true;
    events.push({ type: "end", end: { ...this.#facts, ...end, ...this.#unknown.asField() } });
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "reasoning_text",
  "reasoning_opaque",
  "thinking_blocks",
]);

const TEXT_FIELDS = ["reasoning", "reasoning_content", "reasoning_text"] as const;

const FINISHES: Readonly<Record<string, { readonly status: ResponseStatus; readonly reason?: string }>> = {
  stop: { status: "completed" },
  tool_calls: { status: "completed" },
  function_call: { status: "completed" },
  length: { status: "incomplete", reason: "max_output_tokens" },
  content_filter: { status: "incomplete", reason: "content_filter" },
};
