/** How an event is sent, in words that hold for every dialect; the names on the wire are for tooltips. Pure. */

import type { Decision } from "../../../access/client/index.ts";
import type { Dialect, LoggedEvent } from "../../../base/events/index.ts";

const PLAIN: Readonly<Partial<Record<LoggedEvent["type"], string>>> = {
  user_message: "user message",
  reasoning: "reasoning",
  assistant_message: "assistant message",
  tool_call: "call",
  tool_result: "call output",
  hosted_item: "provider’s item",
  compaction: "user message",
};

export function sentAs({ type, action }: Decision): string {
  if (action === "omit") return "not sent";
  if (action === "translate" && type === "reasoning") return "note";
  return PLAIN[type as LoggedEvent["type"]] ?? "item";
}

const RESULT: Readonly<Record<Dialect, string>> = {
  "openai-responses": "function_call_output",
  "anthropic-messages": "tool_result",
  "openai-chat": "message, role tool",
};

/** Returns the name on the wire, or undefined for what is not sent. */
export function wireName(event: LoggedEvent, { action }: Decision, dialect: Dialect): string | undefined {
  if (action === "omit") return undefined;
  if (event.type === "tool_result") return RESULT[dialect];
  if (!("itemType" in event)) return "message, role user";
  return action === "replay" ? event.itemType : "in plain form";
}

export function resultName(dialect: Dialect): string {
  return RESULT[dialect];
}
