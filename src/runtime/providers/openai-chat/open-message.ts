/**
 * The pieces of one assistant message while it streams: thoughts with the field they came in, text, calls by index.
 *
 * A thought is finished when something else begins, so that a person sees how long it took; where more of it follows,
 * that is another piece, and both go back as one field. Lists of entries are only whole at the end.
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

/** Words that stream; a part of Mistral's content keeps what else it came with. */
interface Thought {
  readonly outputIndex: number;
  readonly field: TextField;
  readonly texts: string[];
  part?: JsonObject;
}

/** Entries that are whole at the end alone. `outputIndex` is given when there is something to show. */
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
  /** Fields besides id, type and function: `extra_content` carries Gemini's signature (failures.md G04). */
  readonly extra: Record<string, unknown>;
}

export class OpenMessage {
  #next = 0;
  #thought: Thought | undefined;
  readonly #lists = new Map<ListField, Entries>();
  /** Fields that say again what another one says, and payloads: nothing for people. */
  readonly #silent = new Map<ReasoningField, string>();
  #text: { readonly outputIndex: number; readonly texts: string[]; readonly refusals: string[] } | undefined;
  readonly #calls = new Map<number, Call>();
  /** Calls begin when their name is known. */
  readonly #told = new Set<Call>();

  think(field: TextField, text: string, events: StreamEvent[]): void {
    // DeepSeek opens every message with an empty one, and what a chunk does not say is no thought in another field.
    if (text === "" && this.#thought?.field !== field) return;
    this.#thoughtOf(field, events).texts.push(text);
    if (text !== "") events.push(deltaOf(this.#thought?.outputIndex ?? 0, "reasoning", text));
  }

  /** A part of the content; `whole`: it is another one than the last, and not more of it. */
  thinkPart(piece: JsonObject, whole: boolean, events: StreamEvent[]): void {
    const before = this.#thought?.part;
    if (whole || (before !== undefined && !goesOn(before, piece))) this.#endThought(events);
    const thought = this.#thoughtOf("content_thinking", events);
    thought.part = thought.part === undefined ? piece : joinedPart(thought.part, piece);
    this.think("content_thinking", wordsOfPart(piece), events);
  }

  /** `shown` is what the same chunk says in a field of words: the entries repeat it. */
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

  /** The same words in a second field: kept, because it may be the one that is taken back. */
  repeat(field: TextField, text: string): void {
    this.#silent.set(field, (this.#silent.get(field) ?? "") + text);
  }

  /** A payload beside the words (GitHub Copilot). It comes once, whole. */
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
    // One without a name stays unfinished: see `lacksName`.
    for (const call of this.#calls.values()) if (call.name !== "") this.#doneCall(call, taken, events);
  }

  /** Something of it was told. */
  get begun(): boolean {
    return this.#next > 0;
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

  /** Readable text is bound to nobody; `opaque`: it holds what only its maker can read. */
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
