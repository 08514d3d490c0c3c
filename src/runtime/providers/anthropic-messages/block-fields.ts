/**
 * Which fields of an output block the input accepts back, per type (@anthropic-ai/sdk 1.8.0 messages.d.ts and
 * beta/messages/messages.d.ts, *BlockParam). An allow-list: fields the API adds later stay in the log and out of
 * requests until they are listed here. Results of server tools are recognised by their form instead, because their
 * calls cannot be sent without them.
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
  advisor_tool_result: ["type", "tool_use_id", "content"],
  mcp_tool_use: ["type", "id", "name", "input", "server_name"],
  mcp_tool_result: ["type", "tool_use_id", "content", "is_error"],
  mcp_tool_listing: ["type", "mcp_server_name", "tools"],
  container_upload: ["type", "file_id"],
  compaction: ["type", "content", "encrypted_content", "signature", "tool_changes"],
  fallback: ["type", "from", "to", "trigger"],
};

const ANY_TOOL_RESULT = [...SERVER_TOOL_RESULT, "is_error"];

export function blockFields(type: string): readonly string[] {
  if (Object.hasOwn(FIELDS, type)) return FIELDS[type] ?? [];
  return isResultType(type) ? ANY_TOOL_RESULT : [];
}

/**
 * Whether the provider made the block in addition to the model's text; such a block is part of the message and is sent
 * back with it.
 */
export function isServerBlock(type: string, keys: { has(key: string): boolean }): boolean {
  return Object.hasOwn(FIELDS, type) || (isResultType(type) && keys.has("tool_use_id"));
}

function isResultType(type: string): boolean {
  return /._tool_result$/.test(type);
}
