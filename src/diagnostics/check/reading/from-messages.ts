/** Messages of the Messages API and of chat completions as entries. Assistant messages keep their exact JSON. */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { type AnswerEntry, type HistoryEntry, type LeftOutList } from "./entry.ts";
import { inputParts, resultText } from "./input-parts.ts";

export type About = Pick<AnswerEntry, "provider" | "model" | "at" | "status" | "error">;

/** The content blocks of a message of the Messages API, as exact JSON. */
export function blocksIn(content: string): readonly string[] {
  if (content.startsWith('"')) return [`{"type":"text","text":${content}}`];
  return sliceArray(content);
}

/** A user's message: its results first, then the rest as one message. */
export function claudeInput(
  content: unknown,
  left: LeftOutList,
  about: { readonly at?: string | undefined; readonly by?: "person" | "runtime" } = {},
): readonly HistoryEntry[] {
  const { at, by = "person" } = about;
  const blocks = typeof content === "string" ? [] : arrayOf(content).filter(isObject);
  const results = blocks.filter(({ type }) => type === "tool_result");
  const rest = typeof content === "string" ? content : blocks.filter(({ type }) => type !== "tool_result");
  const parts = inputParts(rest, left);
  if (results.length === 0 && parts.length === 0) left.add("empty message", "empty messages");
  // Tools put reminders into the message that carries the results.
  const reminded =
    results.length > 0 &&
    parts.every((part) => part.type === "text" && /^\s*<system-reminder>/.test(part.text));
  return [
    ...results.map((block): HistoryEntry => {
      const told = resultText(block["content"]);
      return {
        kind: "result",
        callId: stringOf(block["tool_use_id"]) ?? "",
        text: told.text,
        failed: block["is_error"] === true,
        full: told.whole ? undefined : JSON.stringify(block["content"]),
        at,
      };
    }),
    ...(parts.length === 0 ? [] : [{ kind: "user" as const, by: reminded ? "runtime" : by, parts, at }]),
  ];
}

export function claudeEntries(
  messages: readonly string[],
  about: About,
  left: LeftOutList,
): readonly HistoryEntry[] {
  return messages.flatMap((text): readonly HistoryEntry[] => {
    const value = objectOf(tryParseJson(text));
    if (value["role"] === "user") return claudeInput(value["content"], left);
    if (value["role"] !== "assistant") return leave(value, left);
    const items = blocksIn(sliceMember(text, "content") ?? "");
    return items.length === 0 ? [] : [{ kind: "answer", dialect: "anthropic-messages", items, ...about }];
  });
}

export function chatEntries(
  messages: readonly string[],
  about: About,
  left: LeftOutList,
): readonly HistoryEntry[] {
  return messages.flatMap((text): readonly HistoryEntry[] => {
    const value = objectOf(tryParseJson(text));
    const { role, content } = value;
    if (role === "assistant") return [{ kind: "answer", dialect: "openai-chat", items: [text], ...about }];
    if (role === "tool") {
      const told = resultText(content);
      const callId = stringOf(value["tool_call_id"]) ?? "";
      const full = told.whole ? undefined : JSON.stringify(content);
      return [{ kind: "result", callId, text: told.text, full }];
    }
    if (role !== "user") return leave(value, left);
    const parts = inputParts(content, left);
    if (parts.length === 0) left.add("empty message", "empty messages");
    return parts.length === 0 ? [] : [{ kind: "user", by: "person", parts }];
  });
}

function leave({ role }: JsonObject, left: LeftOutList): readonly HistoryEntry[] {
  const name = stringOf(role) ?? "nameless";
  left.add(`${name} message`, `${name} messages`);
  return [];
}
