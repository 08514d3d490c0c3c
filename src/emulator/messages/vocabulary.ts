/**
 * The vocabulary of the Anthropic Messages protocol. It follows the official types (@anthropic-ai/sdk 1.8.0
 * messages.d.ts). Parsing is tolerant: unlisted types are kept and counted and never throw.
 */

import type { JsonObject } from "../../base/support/index.ts";

/** Every stream event of the official types; the name on the `event:` line is the `type` of the data. */
export const MESSAGES_EVENTS: ReadonlySet<string> = new Set([
  "content_block_delta",
  "content_block_start",
  "content_block_stop",
  "error",
  "message_delta",
  "message_start",
  "message_stop",
  "ping",
]);

/** The delta types of `content_block_delta`. */
export const MESSAGES_DELTAS: ReadonlySet<string> = new Set([
  "citations_delta",
  "compaction_delta",
  "input_json_delta",
  "signature_delta",
  "text_delta",
  "thinking_delta",
]);

/** Whether a block calls a tool that the API runs itself. */
export function isServerCall(type: string): boolean {
  return type === "server_tool_use" || type === "mcp_tool_use";
}

/** Whether a block is the result of such a tool; results of client tools are `tool_result`. */
export function isServerResult(type: string): boolean {
  return type.endsWith("_tool_result");
}

/** The type of the block that answers a call: given by the tool's name, and shared by both tool searches. */
export function resultTypeOf(call: JsonObject): string {
  if (call["type"] === "mcp_tool_use") return "mcp_tool_result";
  const name = String(call["name"]);
  return name.startsWith("tool_search_tool") ? "tool_search_tool_result" : `${name}_tool_result`;
}

/** `stop_reason`, messages.d.ts 4140. */
export const STOP_REASONS: ReadonlySet<string> = new Set([
  "end_turn",
  "max_tokens",
  "model_context_window_exceeded",
  "pause_turn",
  "refusal",
  "stop_sequence",
  "tool_use",
]);

/** `error.type` by HTTP status (docs, errors; shared.d.ts ErrorType). */
export const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The beta that `thinking.block_binding` requires, and with which dropped thinking is reported (failures.md C04). */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

/** The beta that `thinking.display: "updates"` requires. */
export const UPDATES_BETA = "thinking-display-updates-2026-08-18";

/** The beta for `thread`. */
export const THREADS_BETA = "message-threads-2026-08-12";

/** Ids of tool calls; any other id is refused (failures.md C09). */
export const TOOL_ID_PATTERN = /^[a-zA-Z0-9_-]+$/;

/** Ids of calls that the API made itself. */
export const SERVER_TOOL_ID_PATTERN = /^srvtoolu_[a-zA-Z0-9_]+$/;

/** The name of a tool, declared or called. */
export const TOOL_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,128}$/;
