/** A content block while it streams: its start and the deltas so far, assembled when it stops. */

import { type JsonObject, sliceMember, sliceObject, stringOf } from "../../../base/support/index.ts";
import type { DeltaChannel } from "../provider.ts";
import { inputText } from "./item-draft.ts";

export type BlockKind = "reasoning" | "message" | "tool_call" | "other";

export interface BlockDelta {
  readonly channel: DeltaChannel;
  readonly text: string;
}

const KINDS: Readonly<Record<string, BlockKind>> = {
  thinking: "reasoning",
  redacted_thinking: "reasoning",
  text: "message",
  tool_use: "tool_call",
};

export class OpenBlock {
  readonly type: string;
  readonly kind: BlockKind;
  readonly #start: string;
  readonly #texts: string[] = [];
  readonly #citations: string[] = [];
  /** Unknown deltas, kept for people in a field that no input block has. */
  readonly #unknown: string[] = [];
  /** Fields that a delta carries whole, as exact JSON text: set, not appended (failures.md C14). */
  readonly #whole = new Map<string, string>();
  readonly #takesInput: boolean;

  constructor(start: string, block: JsonObject) {
    this.#start = start;
    this.type = stringOf(block["type"]) ?? "unknown";
    this.kind = Object.hasOwn(KINDS, this.type) ? (KINDS[this.type] ?? "other") : "other";
    this.#takesInput = this.type.endsWith("tool_use") || Object.hasOwn(block, "input");
    const own = stringOf(block[TEXT_FIELDS.get(this.type) ?? ""]) ?? "";
    if (own !== "") this.#texts.push(own);
  }

  /** The content the block began with, passed on as the first delta. */
  get opening(): string {
    return this.kind === "tool_call" ? "" : this.#texts.join("");
  }

  /**
   * Takes a delta and returns what a person sees of it; undefined if the block type does not expect it, in which case
   * it is kept as received.
   */
  take(delta: JsonObject, data: string): BlockDelta | "silent" | undefined {
    const { type } = delta;
    if (type === "thinking_delta" && this.type === "thinking")
      return this.#append("reasoning", delta["thinking"]);
    if (type === "text_delta" && this.type === "text") return this.#append("text", delta["text"]);
    if (type === "input_json_delta" && this.#takesInput)
      return this.#append("arguments", delta["partial_json"]);
    const text = sliceMember(data, "delta") ?? "{}";
    const citation = type === "citations_delta" ? sliceMember(text, "citation") : undefined;
    if (citation !== undefined && this.type === "text") this.#citations.push(citation);
    else if (type === "signature_delta" || (type === "compaction_delta" && this.type === "compaction")) {
      for (const { key, value } of sliceObject(text)) if (key !== "type") this.#whole.set(key, value);
    } else {
      this.#unknown.push(text);
      return undefined;
    }
    return "silent";
  }

  /** The tool input exactly as the model wrote it, even if it is not JSON, so that an invalid call is never run. */
  get written(): string | undefined {
    const text = this.#texts.join("");
    return this.kind === "tool_call" && text !== "" ? text : undefined;
  }

  /** Returns the whole block as JSON text, including fields that arrived after its start. */
  finish(): string {
    const fields = new Map(sliceObject(this.#start).map(({ key, value }) => [key, value]));
    const text = this.#texts.join("");
    const own = TEXT_FIELDS.get(this.type);
    if (own !== undefined) fields.set(own, JSON.stringify(text));
    // A tool without arguments streams no text: its input stays the `{}` of the block's start.
    if (this.#takesInput) fields.set("input", text === "" ? (fields.get("input") ?? "{}") : inputText(text));
    if (this.#citations.length > 0) fields.set("citations", `[${this.#citations.join(",")}]`);
    for (const [key, value] of this.#whole) fields.set(key, value);
    if (this.#unknown.length > 0) fields.set("deltas", `[${this.#unknown.join(",")}]`);
    return `{${[...fields].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
  }

  #append(channel: DeltaChannel, value: unknown): BlockDelta {
    const text = stringOf(value) ?? "";
    if (text !== "") this.#texts.push(text);
    return { channel, text };
  }
}

const TEXT_FIELDS: ReadonlyMap<string, string> = new Map([
  ["thinking", "thinking"],
  ["text", "text"],
]);
