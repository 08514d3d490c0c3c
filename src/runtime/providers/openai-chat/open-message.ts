/**
 * The pieces of one assistant message while it streams: thoughts with the field they came in, text, calls by index.
 *
 * A thought is finished when something else begins, so that a person sees how long it took; where more of it follows,
 * that is another piece, and both go back as one field. `reasoning_details` are only whole at the end.
 */

import type { ReasoningField } from "../../../base/events/index.ts";
import {
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
  toRawJson,
} from "../../../base/support/index.ts";
import type { ItemDraft, StreamEvent } from "../provider.ts";
import { ReasoningDetails } from "./reasoning-details.ts";

interface Thought {
  readonly outputIndex: number;
  readonly field: ReasoningField;
  readonly texts: string[];
}

interface Call {
  readonly outputIndex: number;
  id: string;
  name: string;
  readonly arguments: string[];
  /** Fields besides id, type and function: `extra_content` carries Gemini's signature (failures.md G04). */
  readonly extra: Record<string, unknown>;
}

export class OpenMessage {
  #next = 0;
  #thought: Thought | undefined;
  readonly #details = new ReasoningDetails();
  #text: { readonly outputIndex: number; readonly texts: string[]; readonly refusals: string[] } | undefined;
  readonly #calls = new Map<number, Call>();
  /** Calls begin when their name is known. */
  readonly #told = new Set<Call>();

  think(field: ReasoningField, text: string, events: StreamEvent[]): void {
    // DeepSeek opens every message with an empty one, and what a chunk does not say is no thought in another field.
    if (text === "" && this.#thought?.field !== field) return;
    if (this.#thought !== undefined && this.#thought.field !== field) this.#endThought(events);
    this.#thought ??= this.#beginThought(field, events);
    this.#thought.texts.push(text);
    if (text !== "") events.push(deltaOf(this.#thought.outputIndex, "reasoning", text));
  }

  /** `shown` is what the same chunk says in `reasoning`, if anything: the details repeat it. */
  detail(pieces: readonly JsonObject[], shown: string, events: StreamEvent[]): void {
    const before = this.#details.text.length;
    this.#details.add(pieces);
    this.think("reasoning_details", shown === "" ? this.#details.text.slice(before) : shown, events);
    this.#thought ??= this.#beginThought("reasoning_details", events);
  }

  write(text: string, refusal: string, events: StreamEvent[]): void {
    if (text === "" && refusal === "") return;
    this.#leaveThought(events);
    if (this.#text === undefined) {
      this.#text = { outputIndex: this.#index(), texts: [], refusals: [] };
      events.push({ type: "item_start", outputIndex: this.#text.outputIndex, kind: "message" });
    }
    this.#text.texts.push(text);
    this.#text.refusals.push(refusal);
    events.push(deltaOf(this.#text.outputIndex, "text", text + refusal));
  }

  call(piece: JsonObject, events: StreamEvent[]): void {
    this.#leaveThought(events);
    const { id, index, function: body, type: _type, ...extra } = piece;
    const { name, arguments: written } = objectOf(body);
    // Some servers send whole calls without an index, one after the other.
    const at = numberOf(index) ?? this.#calls.size;
    let call = this.#calls.get(at);
    if (call === undefined) {
      call = { outputIndex: this.#index(), id: "", name: "", arguments: [], extra: {} };
      this.#calls.set(at, call);
    }
    call.id ||= stringOf(id) ?? "";
    call.name ||= stringOf(name) ?? "";
    Object.assign(
      call.extra,
      Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== null)),
    );
    const text = isObject(written) ? JSON.stringify(written) : (stringOf(written) ?? "");
    call.arguments.push(text);
    if (!this.#told.has(call)) {
      this.#told.add(call);
      const callId = call.id === "" ? {} : { callId: call.id };
      events.push({
        type: "item_start",
        outputIndex: call.outputIndex,
        kind: "tool_call",
        name: call.name,
        ...callId,
      });
    }
    if (text !== "") events.push(deltaOf(call.outputIndex, "arguments", text));
  }

  finish(events: StreamEvent[]): void {
    this.#endThought(events);
    if (this.#text !== undefined) {
      const text = this.#text.texts.join("");
      const refusal = this.#text.refusals.join("");
      this.#done(events, {
        type: "assistant_message",
        outputIndex: this.#text.outputIndex,
        itemType: "content",
        item: toRawJson(JSON.stringify({ content: text, ...(refusal === "" ? {} : { refusal }) })),
        text,
        ...(refusal === "" ? {} : { refusal }),
      });
    }
    const taken = new Set<string>();
    // One without a name stays unfinished: see `lacksName`.
    for (const call of this.#calls.values()) if (call.name !== "") this.#doneCall(call, taken, events);
  }

  /** The event with a call's id and name was lost: what came of it is no call. */
  get lacksName(): boolean {
    return [...this.#calls.values()].some(({ name }) => name === "");
  }

  #doneCall(call: Call, taken: Set<string>, events: StreamEvent[]): void {
    const written = call.arguments.join("");
    // Two calls of one message with one id would share a result: the second is known by its place (failures.md T07).
    const callId = taken.has(call.id) ? `${call.id || "call"}_${call.outputIndex}` : call.id;
    taken.add(callId);
    const item = {
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: written },
      ...call.extra,
    };
    this.#done(events, {
      type: "tool_call",
      outputIndex: call.outputIndex,
      itemType: "tool_call",
      item: toRawJson(JSON.stringify(item)),
      callId,
      name: call.name,
      arguments: written,
    });
  }

  #beginThought(field: ReasoningField, events: StreamEvent[]): Thought {
    const thought = { outputIndex: this.#index(), field, texts: [] };
    events.push({ type: "item_start", outputIndex: thought.outputIndex, kind: "reasoning" });
    return thought;
  }

  #leaveThought(events: StreamEvent[]): void {
    if (this.#thought !== undefined && this.#thought.field !== "reasoning_details") this.#endThought(events);
  }

  #endThought(events: StreamEvent[]): void {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    const text = thought.texts.join("");
    const value = thought.field === "reasoning_details" ? this.#details.toJson() : JSON.stringify(text);
    this.#done(events, {
      type: "reasoning",
      outputIndex: thought.outputIndex,
      itemType: thought.field,
      item: toRawJson(`{"${thought.field}":${value}}`),
      // Readable text is bound to nobody, but some details hold what only their maker can read.
      opaque: thought.field === "reasoning_details",
      parts: text === "" ? [] : [{ kind: "text", text }],
    });
  }

  #done(events: StreamEvent[], draft: ItemDraft): void {
    events.push({ type: "item_done", outputIndex: draft.outputIndex, draft });
  }

  #index(): number {
    this.#next += 1;
    return this.#next - 1;
  }
}

function deltaOf(
  outputIndex: number,
  channel: "reasoning" | "text" | "arguments",
  text: string,
): StreamEvent {
  return { type: "delta", outputIndex, channel, part: 0, text };
}
