/** Detects the format of a file from its content. */

import { isObject, type JsonObject, tryParseJson } from "../../../base/support/index.ts";
import type { FormatName } from "./names.ts";

export function detectFormat(text: string): FormatName | undefined {
  const value = tryParseJson(text);
  if (Array.isArray(value)) return ofArray(value);
  if (isObject(value) && !isLine(value)) return ofBody(value);
  return ofLines(text);
}

/** A file with one line also parses as a whole. */
function isLine(value: JsonObject): boolean {
  return typeof value["type"] === "string" && !("input" in value) && !("messages" in value);
}

function ofBody(body: JsonObject): FormatName | undefined {
  if ("input" in body && (Array.isArray(body["input"]) || typeof body["input"] === "string"))
    return "responses";
  if (!Array.isArray(body["messages"]))
    return "previous_response_id" in body || "conversation" in body ? "responses" : undefined;
  const format = ofArray(body["messages"]);
  if (format !== "chat" && format !== "messages") return format;
  const anthropic =
    "system" in body ||
    "max_tokens" in body ||
    toolsOf(body).some((tool) => isObject(tool) && "input_schema" in tool);
  const chat = toolsOf(body).some((tool) => isObject(tool) && "function" in tool) || "stream_options" in body;
  if (chat || (format === "chat" && hasChatWords(body["messages"]))) return "chat";
  if (isClaude(body["model"])) return "messages";
  return format === "messages" ||
    (anthropic && !/gpt|deepseek|kimi|mistral|emu-(?:chat|groq|router)/.test(String(body["model"])))
    ? "messages"
    : "chat";
}

function toolsOf(body: JsonObject): readonly unknown[] {
  return Array.isArray(body["tools"]) ? body["tools"] : [];
}

function isClaude(model: unknown): boolean {
  return typeof model === "string" && /claude/.test(model);
}

function ofArray(elements: readonly unknown[]): FormatName | undefined {
  const objects = elements.filter(isObject);
  if (objects.length === 0) return elements.length === 0 ? "responses" : undefined;
  if (objects.some(isLangchain)) return "langchain";
  if (objects.some((one) => Array.isArray(one["parts"]))) return "ai-sdk-ui";
  if (objects.some(isAgentsItem)) return "agents-sdk";
  if (objects.some(hasAiSdkParts)) return "ai-sdk-model";
  if (objects.some(isResponsesItem)) return "responses";
  if (objects.some(hasAnthropicBlocks)) return "messages";
  if (hasChatWords(objects)) return "chat";
  return objects.every((one) => typeof one["role"] === "string") ? plainRoles(objects) : undefined;
}

/** With roles and texts alone it could be any of the three dialects. A system message means chat. */
function plainRoles(objects: readonly JsonObject[]): FormatName {
  const types = objects.flatMap(partTypes);
  if (types.some((type) => type === "input_text" || type === "output_text")) return "responses";
  return "chat";
}

function partTypes({ content }: JsonObject): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) =>
    isObject(part) && typeof part["type"] === "string" ? [part["type"]] : [],
  );
}

const ITEM_TYPES =
  /^(?:reasoning|function_call|function_call_output|custom_tool_call|custom_tool_call_output|item_reference|compaction|.*_call)$/;

function isResponsesItem(one: JsonObject): boolean {
  const { type } = one;
  if (typeof type !== "string") return false;
  if (type === "message") return partTypes(one).every((part) => part !== "text");
  return ITEM_TYPES.test(type) && !("callId" in one);
}

function isAgentsItem({ type, callId, content, providerData }: JsonObject): boolean {
  if (type === "function_call_result") return true;
  if (type === "function_call") return typeof callId === "string";
  return (
    type === "reasoning" &&
    Array.isArray(content) &&
    (isObject(providerData) || partTypes({ content }).includes("input_text"))
  );
}

function hasAiSdkParts(one: JsonObject): boolean {
  return (
    partTypes(one).some((type) => ["tool-call", "tool-result", "reasoning"].includes(type)) ||
    "providerOptions" in one
  );
}

function hasAnthropicBlocks(one: JsonObject): boolean {
  const types = ["thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use"];
  const { content } = one;
  // Mistral's thoughts are also parts of content, but contain a list.
  return (
    Array.isArray(content) &&
    content.some(
      (part) => isObject(part) && types.includes(String(part["type"])) && !Array.isArray(part["thinking"]),
    )
  );
}

function hasChatWords(messages: readonly unknown[]): boolean {
  const fields = ["tool_calls", "tool_call_id", "reasoning_content", "reasoning_details", "reasoning"];
  return messages.some(
    (one) =>
      isObject(one) &&
      (one["role"] === "tool" ||
        one["role"] === "developer" ||
        fields.some((field) => field in one) ||
        (Array.isArray(one["content"]) &&
          one["content"].some(
            (part) => isObject(part) && part["type"] === "thinking" && Array.isArray(part["thinking"]),
          ))),
  );
}

const LANGCHAIN_TYPES: ReadonlySet<unknown> = new Set([
  "human",
  "ai",
  "tool",
  "system",
  "function",
  "chat",
  "remove",
]);

function isLangchain(one: JsonObject): boolean {
  if (one["lc"] === 1 && one["type"] === "constructor") return true;
  return LANGCHAIN_TYPES.has(one["type"]) && (isObject(one["data"]) || "content" in one);
}

function ofLines(text: string): FormatName | undefined {
  for (const line of text.split("\n", 50)) {
    const value = tryParseJson(line);
    if (!isObject(value)) continue;
    const { type } = value;
    if (type === "session" && typeof value["id"] === "string") return "pi-session";
    if (
      ["session_meta", "response_item", "turn_context", "compacted"].includes(String(type)) &&
      isObject(value["payload"])
    )
      return "codex-rollout";
    if ((type === "user" || type === "assistant") && isObject(value["message"])) return "claude-code";
    if (type === "message" && isObject(value["message"]) && "parentId" in value) return "pi-session";
  }
  return undefined;
}
