/**
 * The parts of one assistant message while it streams: thoughts with the field they arrived in, text, and calls by
 * index.
 *
 * A thought ends when something else begins, so that a person sees how long it took. If more of it follows, that is a
 * new part, and both are sent back as one field. Lists of entries are complete only at the end.
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
import { goesOn, joinedPart, wordsOfPart } from "./thinking-part.ts";

/** A streaming thought. For Mistral, `part` keeps the other fields of the content part. */
interface Thought {
  readonly outputIndex: number;
  readonly field: TextField;
  readonly texts: string[];
  part?: JsonObject;
}

/** A list of entries, complete only at the end. `outputIndex` is set once there is something to show. */
interface Entries {
  outputIndex: number | undefined;
  readonly entries: ReasoningDetails;
  readonly texts: string[];
}

type ListField = "reasoning_details" | "thinking_blocks";
type TextField = Exclude<ReasoningField, ListField | "reasoning_opaque">;

interface Call {
  readonly outputIndex: number;
  id: string;
  name: string;
  readonly arguments: string[];
  /** Fields other than id, type and function: `extra_content` carries Gemini's signature (failures.md G04). */
  readonly extra: Record<string, unknown>;
}

export class OpenMessage {
  #next = 0;
  #thought: Thought | undefined;
  readonly #lists = new Map<ListField, Entries>();
  /** Fields that repeat another field's text, and payloads. Not shown to people. */
  readonly #silent = new Map<ReasoningField, string>();
  #text: { readonly outputIndex: number; readonly texts: string[]; readonly refusals: string[] } | undefined;
  readonly #calls = new Map<number, Call>();
  /** Calls whose start has been emitted. */
  readonly #announced = new Set<Call>();

  think(field: TextField, text: string, events: StreamEvent[]): void {
    // DeepSeek opens every message with an empty field; an empty text in a new field does not start a thought.
    if (text === "" && this.#thought?.field !== field) return;
    this.#thoughtOf(field, events).texts.push(text);
    if (text !== "") events.push(deltaOf(this.#thought?.outputIndex ?? 0, "reasoning", text));
  }

  /** Adds a part of the content. `whole`: it is a new part, not more of the last one. */
  thinkPart(piece: JsonObject, whole: boolean, events: StreamEvent[]): void {
    const before = this.#thought?.part;
    if (whole || (before !== undefined && !goesOn(before, piece))) this.#endThought(events);
    const thought = this.#thoughtOf("content_thinking", events);
    thought.part = thought.part === undefined ? piece : joinedPart(thought.part, piece);
    this.think("content_thinking", wordsOfPart(piece), events);
  }

  /** Adds entries to a list. `shown` is the text of the same chunk in a plain field; the entries repeat it. */
  list(
    field: ListField,
    pieces: readonly JsonObject[],
    shown: string | undefined,
    events: StreamEvent[],
  ): void {
    let list = this.#lists.get(field);
    if (list === undefined) {
      list = { outputIndex: undefined, entries: new ReasoningDetails(), texts: [] };
      this.#lists.set(field, list);
    }
    const words = list.entries.add(pieces);
    const text = shown ?? words;
    if (text === "") return;
    list.outputIndex ??= this.#startThought(events);
    list.texts.push(text);
    events.push(deltaOf(list.outputIndex, "reasoning", text));
  }

  /** Keeps a second field with the same text: it may be the one the endpoint accepts back. */
  repeat(field: TextField, text: string): void {
    this.#silent.set(field, (this.#silent.get(field) ?? "") + text);
  }

  /** Keeps a payload that accompanies the text (GitHub Copilot). It arrives once, whole. */
  seal(field: "reasoning_opaque", payload: string): void {
    this.#silent.set(field, payload);
  }

  write(text: string, refusal: string, events: StreamEvent[]): void {
    if (text === "" && refusal === "") return;
    this.#endThought(events);
    if (this.#text === undefined) {
      this.#text = { outputIndex: this.#index(), texts: [], refusals: [] };
      events.push({ type: "item_start", outputIndex: this.#text.outputIndex, kind: "message" });
    }
    this.#text.texts.push(text);
    this.#text.refusals.push(refusal);
    events.push(deltaOf(this.#text.outputIndex, "text", text + refusal));
  }

  call(piece: JsonObject, events: StreamEvent[]): void {
    this.#endThought(events);
    const { id, index, function: body, type: _type, ...extra } = piece;
    const { name, arguments: written } = objectOf(body);
    // Some servers send whole calls without an index, one after another.
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
    if (!this.#announced.has(call)) {
      this.#announced.add(call);
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
    this.#endLists(events);
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
    // A call without a name stays unfinished: see `lacksName`.
    for (const call of this.#calls.values()) if (call.name !== "") this.#doneCall(call, taken, events);
  }

  /** Whether any part has been emitted. */
  get begun(): boolean {
    return this.#next > 0;
  }

  /** Whether the chunk with a call's id and name was lost; the rest of such a call is unusable. */
  get lacksName(): boolean {
    return [...this.#calls.values()].some(({ name }) => name === "");
  }

  #doneCall(call: Call, taken: Set<string>, events: StreamEvent[]): void {
    const written = call.arguments.join("");
    // Two calls with one id would share a result, so the second gets its index appended (failures.md T07).
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

  #thoughtOf(field: TextField, events: StreamEvent[]): Thought {
    if (this.#thought !== undefined && this.#thought.field !== field) this.#endThought(events);
    this.#thought ??= { outputIndex: this.#startThought(events), field, texts: [] };
    return this.#thought;
  }

  #startThought(events: StreamEvent[]): number {
    const outputIndex = this.#index();
    events.push({ type: "item_start", outputIndex, kind: "reasoning" });
    return outputIndex;
  }

  #endThought(events: StreamEvent[]): void {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    const { outputIndex, field, part } = thought;
    const text = thought.texts.join("");
    const value = JSON.stringify(part ?? text);
    this.#doneThought(events, { outputIndex, field, value, text, opaque: part?.["signature"] !== undefined });
  }

  #endLists(events: StreamEvent[]): void {
    for (const [field, { outputIndex = this.#startThought(events), entries, texts }] of this.#lists) {
      const text = texts.join("");
      this.#doneThought(events, { outputIndex, field, value: entries.toJson(), text, opaque: true });
    }
    for (const [field, words] of this.#silent) {
      const outputIndex = this.#startThought(events);
      const opaque = field === "reasoning_opaque";
      this.#doneThought(events, { outputIndex, field, value: JSON.stringify(words), text: "", opaque });
    }
  }

  /** Readable text is not bound to any provider; `opaque` means that only its provider can read it. */
  #doneThought(
    events: StreamEvent[],
    done: {
      readonly outputIndex: number;
      readonly field: ReasoningField;
      readonly value: string;
      readonly text: string;
      readonly opaque: boolean;
    },
  ): void {
    const { outputIndex, field, value, text, opaque } = done;
    this.#done(events, {
      type: "reasoning",
      outputIndex,
      itemType: field,
      item: toRawJson(`{"${field}":${value}}`),
      opaque,
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
