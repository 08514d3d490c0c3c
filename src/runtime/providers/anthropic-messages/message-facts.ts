/**
 * Facts about a message besides its blocks: who served it, its usage, where its code runs, and what became of the
 * request. They arrive at the start, in deltas, or both; the last value counts.
 */

import type { AppliedEdit, Container, UnreadThought } from "../../../base/events/index.ts";
import {
  arrayOf,
  isObject,
  isoTime,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import type { StreamEnd } from "../provider.ts";
import { usageOf } from "./usage.ts";

export class MessageFacts {
  readonly id: string | undefined;
  readonly #reports: unknown[] = [];
  #servedModel: string | undefined;
  #unread: readonly UnreadThought[] | undefined;
  #container: Container | undefined;
  #edits: readonly AppliedEdit[] | undefined;
  #ranTools = false;

  constructor(message: JsonObject) {
    this.id = stringOf(message["id"]);
    this.#servedModel = stringOf(message["model"]);
    this.#take(message);
  }

  /** Reads a `message_delta` event. */
  delta(event: JsonObject): void {
    this.#take({ ...event, ...objectOf(event["delta"]) });
  }

  /** Reads a finished block that the provider made. */
  block(itemType: string, text: string): void {
    this.#ranTools ||= /_tool_(?:use|result)$/.test(itemType);
    if (itemType !== "fallback") return;
    const to = objectOf(objectOf(tryParseJson(text))["to"]);
    this.#servedModel = stringOf(to["model"]) ?? this.#servedModel;
  }

  asEnd(): Partial<StreamEnd> {
    return {
      providerResponseId: this.id,
      servedModel: this.#servedModel,
      unread: this.#unread,
      container: this.#container,
      appliedEdits: this.#edits,
      usage: usageOf(this.#reports, this.#ranTools),
    };
  }

  #take(from: JsonObject): void {
    this.#reports.push(from["usage"]);
    this.#container = containerIn(from["container"]) ?? this.#container;
    // After a fallback in mid-answer, the list is that of the model that served it (beta messages.d.ts 4821).
    if (from["input_transformations"] !== undefined) this.#unread = unreadIn(from["input_transformations"]);
    const edits = editsIn(objectOf(from["context_management"])["applied_edits"]);
    if (edits.length > 0) this.#edits = edits;
  }
}

/** The thoughts the provider left unread (failures.md C10). */
function unreadIn(transformations: unknown): readonly UnreadThought[] | undefined {
  const unread = arrayOf(transformations)
    .map(objectOf)
    .filter((one) => one["type"] === "thinking_dropped")
    .map((one) => ({ path: stringOf(one["path"]) ?? "", reason: stringOf(one["reason"]) ?? "unknown" }));
  return unread.length === 0 ? undefined : unread;
}

function containerIn(value: unknown): Container | undefined {
  const { id, expires_at } = objectOf(value);
  if (typeof id !== "string" || id === "") return undefined;
  const expires = Date.parse(stringOf(expires_at) ?? "");
  return { id, expiresAt: Number.isNaN(expires) ? undefined : isoTime(expires) };
}

function editsIn(value: unknown): readonly AppliedEdit[] {
  return arrayOf(value)
    .filter(isObject)
    .map((edit) => ({
      type: stringOf(edit["type"]) ?? "unknown",
      clearedTokens: numberOf(edit["cleared_input_tokens"]),
      clearedThinkingTurns: numberOf(edit["cleared_thinking_turns"]),
      clearedToolUses: numberOf(edit["cleared_tool_uses"]),
    }));
}
