/**
 * What a client loses of thoughts: whole ones, their payloads, their text. One edit per thought, the same for every
 * dialect.
 *
 * @module
 */

import { arrayOf, type JsonObject, objectOf, stringOf } from "../../../src/base/support/index.ts";
import { REASONING_FIELDS } from "./chat-answer.ts";
import type { Draft } from "./dialect.ts";
import { isThought } from "./messages.ts";
import { type DialectName, type Element, fromOf } from "./truth.ts";

/** `payload`: ciphertext or signature gone. `text`: summary or readable text gone, the payload kept. */
export type Edit = "keep" | "drop" | "payload" | "text";

export interface ThoughtInfo {
  /** Whether it belongs to the last answer in the request. */
  readonly latest: boolean;
  /** Counted through the request. */
  readonly index: number;
}

type Decide = (info: ThoughtInfo) => Edit;

export function editThoughts(dialect: DialectName, draft: Draft, decide: Decide): Draft {
  const list = {
    "openai-responses": editItems,
    "anthropic-messages": editMessages,
    "openai-chat": editChat,
  }[dialect](draft.list, decide);
  return { ...draft, list };
}

function editItems(list: readonly Element[], decide: Decide): readonly Element[] {
  const last = list.findLast((item) => fromOf(item) !== undefined);
  const latest = last === undefined ? undefined : fromOf(last)?.answer;
  let index = -1;
  return list.flatMap((item, at) => {
    if (item["type"] !== "reasoning") return [item];
    index += 1;
    const follower = list.slice(at).find((other) => other["type"] !== "reasoning");
    const own = follower === undefined ? undefined : fromOf(follower)?.answer;
    const edit = decide({ latest: own !== undefined && own === latest, index });
    if (edit === "keep") return [item];
    if (edit === "drop") return [];
    if (edit === "text") return [{ ...item, summary: [] }];
    const { encrypted_content: _, ...rest } = item;
    return [index % 2 === 0 ? rest : { ...rest, encrypted_content: null }];
  });
}

function editMessages(list: readonly Element[], decide: Decide): readonly Element[] {
  const last = list.findLastIndex(({ role }) => role === "assistant");
  let index = -1;
  return list.flatMap((message, at) => {
    if (message["role"] !== "assistant" || !Array.isArray(message["content"])) return [message];
    const content = message["content"].flatMap((block: Element): readonly Element[] => {
      if (!isThought(block)) return [block];
      index += 1;
      const edit = decide({ latest: at === last, index });
      if (edit === "keep") return [block];
      if (edit === "drop" || block["type"] === "redacted_thinking") return [];
      return [edit === "text" ? { ...block, thinking: "" } : { ...block, signature: "" }];
    });
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function editChat(list: readonly Element[], decide: Decide): readonly Element[] {
  const last = list.findLastIndex(({ role }) => role === "assistant");
  let index = -1;
  return list.map((message, at) => {
    if (message["role"] !== "assistant" || !hasThought(message)) return message;
    index += 1;
    const edit = decide({ latest: at === last, index });
    if (edit === "keep") return message;
    return editMessage(message, edit);
  });
}

function hasThought(message: JsonObject): boolean {
  return (
    REASONING_FIELDS.some((field) => field in message) ||
    arrayOf(message["content"]).some((part) => objectOf(part)["type"] === "thinking")
  );
}

function editMessage(message: Element, edit: Exclude<Edit, "keep">): Element {
  const { reasoning_content: content, reasoning, reasoning_details: details, ...rest } = message;
  const parts = arrayOf(message["content"]).map(objectOf);
  if (edit === "drop") return withoutParts(rest, parts);
  if (parts.length > 0) return { ...rest, content: parts.map((part) => editPart(part, edit)) };
  if (details !== undefined) {
    const left = arrayOf(details).filter((one) => "data" in objectOf(one) === (edit === "text"));
    return { ...rest, ...(reasoning === undefined ? {} : { reasoning }), reasoning_details: left };
  }
  // A readable thought has no payload to lose.
  if (edit === "payload") return rest;
  return { ...rest, ...(content === undefined ? { reasoning: "" } : { reasoning_content: "" }) };
}

function editPart(part: JsonObject, edit: "payload" | "text"): JsonObject {
  if (part["type"] !== "thinking") return part;
  const { signature: _, ...unsigned } = part;
  return edit === "payload" ? unsigned : { ...part, thinking: [] };
}

/** Mistral's content is a list only because of its thought. */
function withoutParts(message: Element, parts: readonly JsonObject[]): Element {
  if (parts.length === 0) return message;
  const text = parts.map((part) => (part["type"] === "text" ? (stringOf(part["text"]) ?? "") : "")).join("");
  return { ...message, content: text };
}
