/**
 * Which fields of an output block the input takes back, per type (@anthropic-ai/sdk 1.8.0 messages.d.ts, *BlockParam).
 * An allow-list: what the API adds tomorrow stays in the log and out of the request until it is listed here.
 */

const SERVER_TOOL_RESULT = ["type", "tool_use_id", "content", "caller"];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text", "citations"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
  tool_use: ["type", "id", "name", "input", "caller", "toolset_name"],
  server_tool_use: ["type", "id", "name", "input", "caller"],
  web_search_tool_result: SERVER_TOOL_RESULT,
  web_fetch_tool_result: SERVER_TOOL_RESULT,
  code_execution_tool_result: SERVER_TOOL_RESULT,
  bash_code_execution_tool_result: SERVER_TOOL_RESULT,
  text_editor_code_execution_tool_result: SERVER_TOOL_RESULT,
  tool_search_tool_result: SERVER_TOOL_RESULT,
};

export function blockFields(type: string): readonly string[] {
  return Object.hasOwn(FIELDS, type) ? (FIELDS[type] ?? []) : [];
}

/** Run by the provider; part of the message, sent back with it. */
export function isServerBlock(type: string): boolean {
  return type === "server_tool_use" || (type.endsWith("_tool_result") && Object.hasOwn(FIELDS, type));
}
