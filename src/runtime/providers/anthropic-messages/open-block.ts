/**
 * A content block while it streams: what it began with and the pieces that came since, put together when it stops.
 */

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
  /** Its exact JSON text. Set, not appended: it comes whole, just before the block stops (failures.md C14). */
  #signature: string | undefined;

  constructor(start: string, block: JsonObject) {
    this.#start = start;
    this.type = stringOf(block["type"]) ?? "unknown";
    this.kind = Object.hasOwn(KINDS, this.type) ? (KINDS[this.type] ?? "other") : "other";
    const own = stringOf(block[TEXT_FIELDS[this.type] ?? ""]) ?? "";
    if (own !== "") this.#texts.push(own);
  }

  /** What the block began with, as the first delta. */
  get opening(): string {
    return this.kind === "tool_call" ? "" : this.#texts.join("");
  }

  /** What a person sees of a delta; undefined for one we do not know. */
  take(delta: JsonObject, data: string): BlockDelta | "silent" | undefined {
    switch (delta["type"]) {
      case "thinking_delta":
        return this.#append("reasoning", delta["thinking"]);
      case "text_delta":
        return this.#append("text", delta["text"]);
      case "input_json_delta":
        return this.#append("arguments", delta["partial_json"]);
      case "signature_delta":
        this.#signature = sliceMember(sliceMember(data, "delta") ?? "{}", "signature");
        return "silent";
      case "citations_delta": {
        const citation = sliceMember(sliceMember(data, "delta") ?? "{}", "citation");
        if (citation !== undefined) this.#citations.push(citation);
        return "silent";
      }
      default:
        return undefined;
    }
  }

  /** What the model wrote as a tool's input: kept as it is, also where it is no JSON, so that nobody runs it. */
  get written(): string | undefined {
    const text = this.#texts.join("");
    return this.kind === "tool_call" && text !== "" ? text : undefined;
  }

  /** The whole block as JSON text. */
  finish(): string {
    const text = this.#texts.join("");
    const parts = sliceObject(this.#start).map(
      ({ key, value }) => `"${key}":${this.#value(key, value, text)}`,
    );
    // A block that began without these fields still has them.
    if (this.#signature !== undefined && !parts.some((part) => part.startsWith('"signature":'))) {
      parts.push(`"signature":${this.#signature}`);
    }
    return `{${parts.join(",")}}`;
  }

  #value(key: string, value: string, text: string): string {
    if (key === "signature" && this.#signature !== undefined) return this.#signature;
    if (key === "citations" && this.#citations.length > 0) return `[${this.#citations.join(",")}]`;
    // A tool that takes nothing has no text at all: its input stays what the block began with, `{}`.
    if (key === "input") return text === "" ? value : inputText(text);
    if (key === TEXT_FIELDS[this.type]) return JSON.stringify(text);
    return value;
  }

  #append(channel: DeltaChannel, value: unknown): BlockDelta {
    const text = stringOf(value) ?? "";
    if (text !== "") this.#texts.push(text);
    return { channel, text };
  }
}

const TEXT_FIELDS: Readonly<Record<string, string>> = { thinking: "thinking", text: "text" };
