/**
 * The messages of a request, read once: each one's text, calls, results and reasoning. All later code uses these
 * instead of JSON.
 */

import { createHash } from "node:crypto";

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import { hashText } from "../seal.ts";
import { CHAT_REASONING_FIELDS, CHAT_THINKING_PART, type ChatReasoningField } from "./vocabulary.ts";

export interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Reasoning in a message, by the field it was captured from (V06). */
export interface CarriedReasoning {
  readonly field: ChatReasoningField | "content";
  readonly text: string;
  /** `reasoning_details[]`, in order. */
  readonly details: readonly JsonObject[];
  /** For parts of the content. */
  readonly signature?: string | undefined;
}

export interface ChatMessage {
  readonly index: number;
  readonly role: string;
  readonly raw: JsonObject;
  /** Its exact text in the body: prefix stability is about bytes. */
  readonly text: string;
  /** The text a person would read. */
  readonly content: string;
  readonly calls: readonly ChatCall[];
  readonly callId: string | undefined;
  readonly reasoning: readonly CarriedReasoning[];
  /** The number of user messages so far; 0 before the first. */
  readonly turn: number;
  /** The clues that identify an assistant message. */
  readonly clues: readonly string[];
}

export function readMessages(messages: readonly unknown[], texts: readonly string[]): readonly ChatMessage[] {
  let turn = 0;
  return messages.map((value, index): ChatMessage => {
    const raw = objectOf(value);
    const role = stringOf(raw["role"]) ?? "";
    if (role === "user") turn += 1;
    const content = contentOf(raw);
    const calls = arrayOf(raw["tool_calls"]).map(callOf);
    return {
      index,
      role,
      raw,
      text: texts[index] ?? "",
      content,
      calls,
      callId: stringOf(raw["tool_call_id"]),
      reasoning: role === "assistant" ? reasoningOf(raw) : [],
      turn,
      clues: role === "assistant" ? cluesOf({ content, calls }) : [],
    };
  });
}

function callOf(value: unknown): ChatCall {
  const call = objectOf(value);
  const made = isObject(call["function"]) ? call["function"] : objectOf(call["custom"]);
  return {
    id: stringOf(call["id"]) ?? "",
    name: stringOf(made["name"]) ?? "",
    arguments: stringOf(made["arguments"]) ?? stringOf(made["input"]) ?? "",
  };
}

/** Text and refusals; a thinking part does not count as spoken text. */
function contentOf({ content, refusal }: JsonObject): string {
  if (typeof content === "string") return content;
  const said = arrayOf(content).map((part) => {
    const { type, text, refusal: declined } = objectOf(part);
    if (type === CHAT_THINKING_PART) return "";
    return stringOf(text) ?? stringOf(declined) ?? `[${String(type)}]`;
  });
  return said.join("") + (said.length === 0 ? (stringOf(refusal) ?? "") : "");
}

function reasoningOf(raw: JsonObject): readonly CarriedReasoning[] {
  const found: CarriedReasoning[] = [];
  for (const field of CHAT_REASONING_FIELDS) {
    const value = raw[field];
    if (typeof value === "string") found.push({ field, text: value, details: [] });
    if (!Array.isArray(value)) continue;
    const details = value.map(objectOf);
    const text = details.map((one) =>
      one["type"] === "reasoning.text" ? (stringOf(one["text"]) ?? "") : "",
    );
    found.push({ field, text: text.join(""), details });
  }
  const thinking = arrayOf(raw["content"]).filter((part) => objectOf(part)["type"] === CHAT_THINKING_PART);
  const signature = thinking.map((part) => stringOf(objectOf(part)["signature"]) ?? "").join("");
  if (thinking.length > 0)
    found.push({ field: "content", text: thinking.map(thoughtOf).join(""), details: [], signature });
  return found;
}

function thoughtOf(part: unknown): string {
  const { thinking } = objectOf(part);
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((one) => stringOf(objectOf(one)["text"]) ?? "")
    .join("");
}

const thinkTag = /^<think>\n([\s\S]*?)\n<\/think>\n\n/;

export function inThinkTag(thought: string): string {
  return `<think>\n${thought}\n</think>\n\n`;
}

/** MiniMax without `reasoning_split`: the thought precedes the text and comes back there. */
export function thinkTagOf({ content }: ChatMessage): string | undefined {
  return thinkTag.exec(content)?.[1];
}

/** By its calls and its text. */
export function cluesOf(message: Pick<ChatMessage, "calls" | "content">): readonly string[] {
  return [
    ...message.calls.map(({ id }) => `chat call ${id}`),
    ...(message.content === "" ? [] : [`chat text ${hashText(message.content)}`]),
  ];
}

/**
 * `chain[i]` represents the meaning of messages 0..i-1, without reasoning and instructions. Chat has no ids, so a
 * conversation is recognised by its content.
 */
export function meaningChain(messages: readonly ChatMessage[]): readonly string[] {
  let link = "chat";
  return [link, ...messages.map((message) => (link = nextLink(link, message)))];
}

export function nextLink(
  link: string,
  message: Pick<ChatMessage, "role" | "content" | "calls" | "callId">,
): string {
  if (message.role === "system" || message.role === "developer") return link;
  const { role, content, calls, callId } = message;
  const meaning = JSON.stringify([role, content, calls.map((call) => [call.id, call.name]), callId ?? null]);
  return createHash("sha256").update(link).update(meaning).digest("base64url").slice(0, 22);
}
