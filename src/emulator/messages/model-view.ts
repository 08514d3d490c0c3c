/** A Messages request as the model sees it. */

import { isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { Engine } from "../engine.ts";
import type { ModelView, Seen } from "../model/view.ts";
import { cluePositions } from "./clues.ts";
import type { JudgedMessages } from "./judge-request.ts";
import { textOf } from "./judge/context.ts";
import type { ParsedMessages } from "./judge/request-shape.ts";
import { joined, type JoinedMessage } from "./judge/tool-rules.ts";
import type { ThinkingPayload } from "./signature.ts";

export function viewOf(engine: Engine, judged: JudgedMessages): ModelView {
  const { request, context, usable } = judged;
  const { body, thinking } = request;
  const choice = objectOf(body["tool_choice"]);
  const known = new Set([...usable.values()].map((payload) => payload.id));
  const results = context.blocks.findLast(({ role }) => role !== "system")?.type === "tool_result";
  return {
    seen: joined(context.blocks).flatMap((message) => seenOf(message, usable)),
    instructions: textOf(body["system"]),
    tools: request.tools.map(toolOf),
    toolChoice: choiceOf(choice),
    parallel: choice["disable_parallel_tool_use"] !== true,
    // `between_tools`: no thought before the first call, notes after it (messages.d.ts 4283).
    reasons: request.traits.reasoning && thinking.on && (thinking.mode !== "between_tools" || results),
    effort: stringOf(objectOf(body["output_config"])["effort"]) ?? "high",
    summary: "auto",
    format: formatOf(request),
    // Thinking that is switched off does not count as lost.
    lost: thinking.on
      ? engine.issued
          .reasoningBehind(judged.conversation, cluePositions(context))
          .filter((one) => one.dialect === "anthropic-messages" && !known.has(one.id)).length
      : 0,
    model: request.model,
  };
}

function seenOf(message: JoinedMessage, usable: ReadonlyMap<number, ThinkingPayload>): readonly Seen[] {
  const seen: Seen[] = [];
  for (const [at, { block, type, role }] of message.blocks.entries()) {
    const payload = usable.get(message.start + at);
    if (payload !== undefined) seen.push({ type: "notes", text: payload.notes });
    else if (type === "text") addText(seen, role, spokenIn(stringOf(block["text"]) ?? ""));
    else if (type === "tool_use") seen.push(callOf(block));
    else if (type === "tool_result") seen.push(resultOf(block));
    else seen.push({ type: "other", itemType: type });
  }
  return seen;
}

/** Claude Code puts its own notes into user messages, in this tag; the user did not say them. */
function spokenIn(text: string): string {
  return text.replaceAll(/<system-reminder>[^]*?<\/system-reminder>\s*/g, "");
}

/** The model sees adjacent user texts as one message. */
function addText(seen: Seen[], role: string, text: string): void {
  if (text === "") return;
  const type = role === "assistant" ? "assistant" : role === "system" ? "system" : "user";
  const last = seen.at(-1);
  if (type === "user" && last?.type === "user")
    seen[seen.length - 1] = { type, text: `${last.text}\n${text}` };
  else seen.push({ type, text });
}

function callOf(block: JsonObject): Seen {
  return {
    type: "call",
    callId: stringOf(block["id"]) ?? "",
    name: stringOf(block["name"]) ?? "",
    arguments: JSON.stringify(block["input"] ?? {}),
  };
}

function resultOf(block: JsonObject): Seen {
  return {
    type: "result",
    callId: stringOf(block["tool_use_id"]) ?? "",
    text: textOf(block["content"]),
    failed: block["is_error"] === true,
  };
}

/** A server tool keeps its type and has no name: the model uses it in its own way. */
function toolOf(tool: JsonObject): JsonObject {
  const type = stringOf(tool["type"]) ?? "custom";
  if (type !== "custom") return { type };
  return { type: "function", name: tool["name"], parameters: tool["input_schema"] };
}

function choiceOf(choice: JsonObject): unknown {
  const type = stringOf(choice["type"]);
  if (type === "any") return "required";
  if (type === "tool") return { type: "function", name: choice["name"] };
  return type ?? "auto";
}

function formatOf({ body }: ParsedMessages): JsonObject {
  const format = objectOf(body["output_config"])["format"] ?? body["output_format"];
  return isObject(format) ? format : { type: "text" };
}
