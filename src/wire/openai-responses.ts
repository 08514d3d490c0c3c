/**
 * The words of the OpenAI Responses protocol. Types follow the official ones (openai 7.53 responses.d.ts); parsing is
 * tolerant: what is not listed here is kept and counted, never thrown on.
 *
 * @module
 */

/** Every stream event of the official types; those that carry nothing we show are known all the same. */
export const RESPONSES_EVENTS: ReadonlySet<string> = new Set([
  "error",
  "keepalive",
  "response.audio.delta",
  "response.audio.done",
  "response.audio.transcript.delta",
  "response.audio.transcript.done",
  "response.code_interpreter_call.completed",
  "response.code_interpreter_call.in_progress",
  "response.code_interpreter_call.interpreting",
  "response.code_interpreter_call_code.delta",
  "response.code_interpreter_call_code.done",
  "response.compaction.compacting",
  "response.completed",
  "response.content_part.added",
  "response.content_part.done",
  "response.created",
  "response.custom_tool_call_input.delta",
  "response.custom_tool_call_input.done",
  "response.failed",
  "response.file_search_call.completed",
  "response.file_search_call.in_progress",
  "response.file_search_call.searching",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.image_generation_call.completed",
  "response.image_generation_call.generating",
  "response.image_generation_call.in_progress",
  "response.image_generation_call.partial_image",
  "response.in_progress",
  "response.incomplete",
  "response.mcp_call.completed",
  "response.mcp_call.failed",
  "response.mcp_call.in_progress",
  "response.mcp_call_arguments.delta",
  "response.mcp_call_arguments.done",
  "response.mcp_list_tools.completed",
  "response.mcp_list_tools.failed",
  "response.mcp_list_tools.in_progress",
  "response.metadata",
  "response.output_item.added",
  "response.output_item.done",
  "response.output_text.annotation.added",
  "response.output_text.delta",
  "response.output_text.done",
  "response.queued",
  "response.reasoning.delta", // Open Responses' name for reasoning_text
  "response.reasoning.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.delta",
  "response.reasoning_text.done",
  "response.refusal.delta",
  "response.refusal.done",
  "response.web_search_call.completed",
  "response.web_search_call.in_progress",
  "response.web_search_call.searching",
]);

/** Item types a provider runs itself. */
export const HOSTED_ITEMS: ReadonlySet<string> = new Set([
  "code_interpreter_call",
  "compaction",
  "computer_call",
  "file_search_call",
  "image_generation_call",
  "mcp_approval_request",
  "mcp_call",
  "mcp_list_tools",
  "program",
  "tool_search_call",
  "web_search_call",
]);

/** The prefixes of item ids by type (failures.md I06). A wrong one is refused. */
export const ITEM_ID_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  message: ["msg", "amsg"],
  reasoning: ["rs"],
  function_call: ["fc"],
  function_call_output: ["fco"],
  custom_tool_call: ["ctc"],
  custom_tool_call_output: ["ctco"],
  web_search_call: ["ws"],
  image_generation_call: ["ig"],
  compaction: ["cmp"],
  tool_search_call: ["tsc"],
  program: ["cm"],
};
