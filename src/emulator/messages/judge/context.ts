/**
 * The messages of a request as one row of blocks, and the hash chain over the content before each (C04). The API joins
 * neighbours of the same role, so only a change of role counts, not where a message ends. Thinking and `cache_control`
 * are not part of the chain.
 */

import { createHash } from "node:crypto";

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
  sliceObject,
  stringOf,
} from "../../../base/support/index.ts";
import { hashText } from "../../seal.ts";

export interface LocatedBlock {
  readonly block: JsonObject;
  readonly type: string;
  readonly role: string;
  /** The index of its message, and of the block in it. */
  readonly message: number;
  readonly index: number;
  readonly path: string;
  /** Its exact text with the role, without `cache_control`: prefix stability is about bytes. */
  readonly text: string;
}

export interface Context {
  readonly blocks: readonly LocatedBlock[];
  /** `chain[i]` covers everything before block i; the last one covers everything. */
  readonly chain: readonly string[];
  readonly lastRole: string;
}

export function toContext(messages: readonly JsonObject[], messagesText: string): Context {
  const texts = sliceArray(messagesText);
  const blocks = messages.flatMap((message, index) => blocksOf(message, index, texts[index] ?? ""));
  let link = chainStart;
  let role = "";
  const chain = [link];
  for (const one of blocks) {
    if (!isThinking(one.type)) {
      link = nextLink(link, { block: one.block, turns: one.role !== role, role: one.role });
      role = one.role;
    }
    chain.push(link);
  }
  return { blocks, chain, lastRole: role };
}

const chainStart = hashText("messages");

export function isThinking(type: string): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

export function nextLink(
  link: string,
  next: { readonly block: JsonObject; readonly turns: boolean; readonly role: string },
): string {
  return createHash("sha256")
    .update(link)
    .update(next.turns ? `\n${next.role}\n` : "")
    .update(meaningOf(next.block))
    .digest("base64url")
    .slice(0, 22);
}

function blocksOf(message: JsonObject, index: number, text: string): readonly LocatedBlock[] {
  const role = stringOf(message["role"]) ?? "user";
  const { content } = message;
  const raw = sliceMember(text, "content") ?? "null";
  const located = (block: JsonObject, at: number, blockText: string): LocatedBlock => ({
    block,
    type: stringOf(block["type"]) ?? "",
    role,
    message: index,
    index: at,
    path: `messages.${index}.content.${at}`,
    text: `${role} ${withoutCacheControl(blockText)}`,
  });
  if (typeof content === "string") return [located({ type: "text", text: content }, 0, textBlockOf(raw))];
  if (!Array.isArray(content)) return [];
  const texts = sliceArray(raw);
  return content.map((block: unknown, at) => located(objectOf(block), at, texts[at] ?? ""));
}

/** The meaning of a block, the same for every way to write it: a string is short for one text block. */
export function meaningOf(block: JsonObject): string {
  switch (block["type"]) {
    case "text":
      return JSON.stringify(["text", block["text"]]);
    case "tool_use":
      return JSON.stringify(["tool_use", block["id"], block["name"], block["input"]]);
    case "tool_result":
      return JSON.stringify([
        "tool_result",
        block["tool_use_id"],
        contentMeaning(block["content"]),
        block["is_error"] === true,
      ]);
    default:
      return JSON.stringify(stripped(block));
  }
}

function contentMeaning(content: unknown): unknown {
  if (typeof content === "string") return [["text", content]];
  return arrayOf(content).map((part) =>
    isObject(part) && part["type"] === "text" ? ["text", part["text"]] : stripped(part),
  );
}

/** Returns the value without any `cache_control` in it. */
export function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (key === "cache_control" ? [] : [[key, stripped(one)]])),
  );
}

/** A string is short for one text block: a client that adds a cache breakpoint writes it out. */
export function textBlockOf(raw: string): string {
  return `{"type":"text","text":${raw}}`;
}

/** The same for the exact text: breakpoints move between requests, the rest must not change. */
export function withoutCacheControl(text: string): string {
  return unmarked(withoutSpace(text));
}

/** The JSON text without white space between its tokens. A regular expression would need a stack as long as a string. */
function withoutSpace(text: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    pieces.push(text.slice(at, end).replaceAll(/\s+/g, ""));
    at = quote === -1 ? text.length : endOfString(text, quote);
    pieces.push(text.slice(end, at));
  }
  return pieces.join("");
}

/** The place behind the string that begins at a quote. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function unmarked(text: string): string {
  if (!text.includes('"cache_control"')) return text;
  if (text.startsWith("[")) return `[${sliceArray(text).map(unmarked).join(",")}]`;
  if (!text.startsWith("{")) return text;
  const members = sliceObject(text).filter(({ key }) => key !== "cache_control");
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${unmarked(value)}`).join(",")}}`;
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => {
      const { text, type } = objectOf(part);
      return stringOf(text) ?? `[${String(type)}]`;
    })
    .join("");
}
