/**
 * What the model sees of a chat request: the conversation as plain meaning, and its own notes if its reasoning came
 * back and the vendor reads it.
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { ModelView, Seen } from "../model/view.ts";
import type { ChatMessage } from "./messages.ts";
import type { ReasoningAnswer } from "./reasoning.ts";
import type { ChatRequest } from "./request-shape.ts";

export function viewOf(request: ChatRequest, reasoning: ReasoningAnswer, lost: number): ModelView {
  const { body } = request;
  return {
    seen: request.messages.flatMap((message) => seenOf(message, reasoning)),
    instructions: "",
    tools: request.tools.map(flatTool),
    toolChoice: flatChoice(body["tool_choice"]),
    parallel: body["parallel_tool_calls"] !== false,
    reasons: request.thinking,
    effort: stringOf(body["reasoning_effort"]) ?? "medium",
    summary: "auto",
    format: formatOf(body["response_format"]),
    lost,
    model: request.model,
  };
}

function seenOf(message: ChatMessage, reasoning: ReasoningAnswer): readonly Seen[] {
  const { role, content, index } = message;
  if (role === "user") return [{ type: "user", text: content }];
  if (role === "tool") return [{ type: "result", callId: message.callId ?? "", text: content }];
  if (role !== "assistant") return [{ type: "system", text: content }];
  const notes = reasoning.usable.get(index);
  return [
    ...(notes === undefined ? [] : [{ type: "notes", text: notes } as const]),
    ...(content === "" ? [] : [{ type: "assistant", text: content } as const]),
    ...message.calls.map(({ id, name, arguments: text }) => {
      return { type: "call", callId: id, name, arguments: text } as const;
    }),
  ];
}

/** `{type, function: {…}}` → `{type, …}`. */
function flatTool(tool: JsonObject): JsonObject {
  const type = stringOf(tool["type"]) ?? "function";
  return { type, ...objectOf(tool[type]) };
}

function flatChoice(choice: unknown): unknown {
  return isObject(choice) ? flatTool(choice) : (choice ?? "auto");
}

function formatOf(format: unknown): JsonObject {
  if (!isObject(format)) return { type: "text" };
  return format["type"] === "json_schema"
    ? { ...objectOf(format["json_schema"]), type: "json_schema" }
    : format;
}
