/**
 * What the rules of `anthropic-messages` see: outlines of a message and of the head, made from the text without parsing
 * payloads.
 */

import { sliceArray } from "../../../base/support/index.ts";
import { membersOf, textOf, textState, type TextState } from "../outline.ts";
import type { PieceContext } from "../rule-set.ts";
import type { Rule } from "../rule.ts";
import type { MessagesFacts } from "./facts.ts";

export type MessagesRule = Rule<MessageView, MessagesRequest>;

export interface BlockView {
  readonly part: number;
  readonly type: string;
  readonly keys: ReadonlySet<string>;
  /** For a `tool_use` or a server tool. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** For a result. */
  readonly toolUseId: string | undefined;
  readonly text: TextState;
  readonly signature: TextState;
  readonly data: TextState;
  readonly inputIsObject: boolean;
  readonly cached: boolean;
}

export interface MessageView extends PieceContext {
  readonly index: number;
  readonly role: string | undefined;
  readonly keys: ReadonlySet<string>;
  /** A string counts as one text block. */
  readonly blocks: readonly BlockView[];
  readonly content: "string" | "blocks" | "missing";
}

/** The parts of the head that the rules read. */
export interface MessagesRequest {
  readonly known: boolean;
  readonly prefill: boolean;
  readonly keptFront: boolean;
  readonly thinking: string | undefined;
  readonly budgetTokens: number | undefined;
  readonly maxTokens: number | undefined;
  readonly toolChoice: string | undefined;
  /** Blocks with `cache_control` in system and tools. */
  readonly cachedBlocks: number;
}

export function viewMessage(text: string, index: number, context: PieceContext): MessageView {
  const members = membersOf(text);
  const content = members.get("content");
  return {
    ...context,
    index,
    role: textOf(members.get("role")),
    keys: new Set(members.keys()),
    blocks: blocksOf(content),
    content:
      content?.startsWith('"') === true ? "string" : content?.startsWith("[") === true ? "blocks" : "missing",
  };
}

function blocksOf(content: string | undefined): readonly BlockView[] {
  if (content?.startsWith('"') === true) return [viewBlock(`{"type":"text","text":${content}}`, 0)];
  return sliceArray(content ?? "").map(viewBlock);
}

function viewBlock(text: string, part: number): BlockView {
  const members = membersOf(text);
  return {
    part,
    type: textOf(members.get("type")) ?? "unknown",
    keys: new Set(members.keys()),
    id: textOf(members.get("id")),
    name: textOf(members.get("name")),
    toolUseId: textOf(members.get("tool_use_id")),
    text: textState(members.get("text")),
    signature: textState(members.get("signature")),
    data: textState(members.get("data")),
    inputIsObject: members.get("input")?.startsWith("{") === true,
    cached: members.get("cache_control")?.startsWith("{") === true,
  };
}

export function viewHead({ head, prefill = false, keptFront = false }: MessagesFacts): MessagesRequest {
  const members = membersOf(head ?? "");
  const thinking = membersOf(members.get("thinking") ?? "");
  return {
    known: head !== undefined,
    prefill,
    keptFront,
    thinking: textOf(thinking.get("type")),
    budgetTokens: numberIn(thinking.get("budget_tokens")),
    maxTokens: numberIn(members.get("max_tokens")),
    toolChoice: textOf(membersOf(members.get("tool_choice") ?? "").get("type")),
    cachedBlocks: [
      ...sliceArray(members.get("system") ?? ""),
      ...sliceArray(members.get("tools") ?? ""),
    ].filter((one) => membersOf(one).get("cache_control")?.startsWith("{") === true).length,
  };
}

function numberIn(value: string | undefined): number | undefined {
  return value !== undefined && /^-?\d/.test(value) ? Number(value) : undefined;
}

export function isThinking({ type }: BlockView): boolean {
  return type === "thinking" || type === "redacted_thinking";
}
