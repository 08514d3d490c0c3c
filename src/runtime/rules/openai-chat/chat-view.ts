/** The outline of a message that the rules of `openai-chat` see, made from its text without parsing payloads. */

import type { ReasoningField } from "../../../base/events/index.ts";
import { sliceArray } from "../../../base/support/index.ts";
import { membersOf, textOf, textState, type TextState } from "../outline.ts";
import type { PieceContext } from "../rule-set.ts";
import type { Rule } from "../rule.ts";
import type { ChatFacts, ChatTraits } from "./facts.ts";

export type ChatRule = Rule<ChatMessageView, ChatRequest>;

export interface CallView {
  readonly part: number;
  readonly id: string | undefined;
  /** The member that describes the call; a custom tool takes free text. */
  readonly member: "function" | "custom";
  readonly name: string | undefined;
  readonly arguments: TextState;
}

export interface ChatMessageView extends PieceContext {
  readonly index: number;
  readonly role: string | undefined;
  readonly keys: ReadonlySet<string>;
  /** The state of a string; `other` means an array of parts. */
  readonly content: TextState;
  readonly partTypes: readonly string[];
  readonly calls: readonly CallView[];
  readonly hasCallsField: boolean;
  readonly toolCallId: string | undefined;
  /** The speaker's name; in a tool message, the tool's. */
  readonly name: string | undefined;
  /** The fields that carry reasoning; an empty string counts as carried, null does not. */
  readonly reasoning: ReadonlyMap<ReasoningField, TextState>;
  /**
   * A key for each entry of `reasoning_details` that must not repeat (V08). The id of a text entry may repeat: MiniMax
   * numbers them per message.
   */
  readonly detailKeys: readonly string[];
}

/** The facts about the whole request that the rules need. */
export interface ChatRequest {
  readonly traits: ChatTraits;
  readonly thinking: boolean;
  /** Whether it carries tools, called or not. */
  readonly tools: boolean;
}

const TEXT_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "reasoning_opaque"] as const;

export function viewChatMessage(text: string, index: number, context: PieceContext): ChatMessageView {
  const members = membersOf(text);
  const content = members.get("content");
  const parts = sliceArray(content ?? "");
  const details = sliceArray(members.get("reasoning_details") ?? "");
  const partTypes = parts.map((part) => textOf(membersOf(part).get("type")) ?? "unknown");
  const calls = members.get("tool_calls");
  return {
    ...context,
    index,
    role: textOf(members.get("role")),
    keys: new Set(members.keys()),
    content: textState(content),
    partTypes,
    calls: sliceArray(calls ?? "").map(viewCall),
    hasCallsField: calls?.startsWith("[") === true,
    toolCallId: textOf(members.get("tool_call_id")),
    name: textOf(members.get("name")),
    reasoning: new Map<ReasoningField, TextState>([
      ...TEXT_FIELDS.map((field) => [field, textState(members.get(field))] as const).filter(
        ([, state]) => state !== "absent" && state !== "null",
      ),
      ...(details.length === 0 ? [] : [["reasoning_details", "present"] as const]),
      ...(sliceArray(members.get("thinking_blocks") ?? "").length === 0
        ? []
        : [["thinking_blocks", "present"] as const]),
      ...(partTypes.includes("thinking") ? [["content_thinking", "present"] as const] : []),
    ]),
    detailKeys: details.map(detailKey).filter((key) => key !== undefined),
  };
}

const ARGUMENTS = { function: "arguments", custom: "input" } as const;

function viewCall(text: string, part: number): CallView {
  const members = membersOf(text);
  const member = textOf(members.get("type")) === "custom" ? "custom" : "function";
  const called = membersOf(members.get(member) ?? "");
  return {
    part,
    id: textOf(members.get("id")),
    member,
    name: textOf(called.get("name")),
    arguments: textState(called.get(ARGUMENTS[member])),
  };
}

function detailKey(text: string): string | undefined {
  const members = membersOf(text);
  const [type, id] = [textOf(members.get("type")), textOf(members.get("id"))];
  if (type === "reasoning.encrypted") return id ?? members.get("data");
  return type === "reasoning.text" ? textOf(members.get("signature")) || undefined : id;
}

export function viewChatRequest({ traits, head, thinking }: ChatFacts): ChatRequest {
  const fields = membersOf(head ?? "");
  const said = textOf(membersOf(fields.get("thinking") ?? "").get("type"));
  const tools = sliceArray(fields.get("tools") ?? "").length > 0;
  return { traits, thinking: thinking ?? said !== "disabled", tools };
}
