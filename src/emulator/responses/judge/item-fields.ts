/**
 * The fields each type of input item accepts: those of the official types (openai 7.53, `ResponseInputItem`), and
 * others the API is known to accept. An output-only field such as `created_by` is refused (T14).
 */

export interface ItemFields {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const callOutput: ItemFields = {
  required: ["call_id", "output"],
  optional: ["id", "status", "name", "namespace", "caller"],
};

export const itemFields: Readonly<Record<string, ItemFields>> = {
  message: { required: ["role", "content"], optional: ["id", "status", "phase"] },
  reasoning: { required: ["summary"], optional: ["id", "content", "encrypted_content", "status"] },
  function_call: {
    required: ["call_id", "name", "arguments"],
    optional: ["id", "status", "namespace", "caller", "async"],
  },
  function_call_output: callOutput,
  custom_tool_call: {
    required: ["call_id", "name", "input"],
    optional: ["id", "status", "namespace", "caller", "async"],
  },
  custom_tool_call_output: callOutput,
  web_search_call: { required: ["id"], optional: ["status", "action", "results"] },
  file_search_call: { required: ["id", "queries"], optional: ["status", "results"] },
  code_interpreter_call: { required: ["id"], optional: ["status", "code", "container_id", "outputs"] },
  // The types name more (`action`, `size` …); the API was reported to refuse them (Yeachan-Heo/gajae-code#1688).
  image_generation_call: { required: ["id"], optional: ["status", "result"] },
  computer_call: {
    required: ["id", "call_id"],
    optional: ["status", "action", "actions", "pending_safety_checks"],
  },
  computer_call_output: {
    required: ["call_id", "output"],
    optional: ["id", "status", "acknowledged_safety_checks"],
  },
  local_shell_call: { required: ["id", "call_id", "action"], optional: ["status"] },
  // In the types `id` refers to the call; clients send `call_id`.
  local_shell_call_output: { required: ["output"], optional: ["id", "call_id", "status"] },
  shell_call: { required: ["call_id", "action"], optional: ["id", "status", "environment", "caller"] },
  shell_call_output: {
    required: ["call_id", "output"],
    optional: ["id", "status", "max_output_length", "caller"],
  },
  apply_patch_call: { required: ["call_id", "operation", "status"], optional: ["id", "caller"] },
  apply_patch_call_output: { required: ["call_id", "status"], optional: ["id", "output", "caller"] },
  mcp_call: {
    required: ["id", "name", "arguments", "server_label"],
    optional: ["status", "output", "error", "approval_request_id"],
  },
  mcp_list_tools: { required: ["id", "server_label", "tools"], optional: ["error"] },
  mcp_approval_request: { required: ["id", "name", "arguments", "server_label"], optional: [] },
  mcp_approval_response: { required: ["approval_request_id", "approve"], optional: ["id", "reason"] },
  tool_search_call: { required: ["arguments"], optional: ["id", "status", "call_id", "execution"] },
  tool_search_output: { required: ["tools"], optional: ["id", "status", "call_id", "execution"] },
  program: { required: ["id", "call_id", "code", "fingerprint"], optional: [] },
  program_output: { required: ["id", "call_id", "result", "status"], optional: [] },
  additional_tools: { required: ["role", "tools"], optional: ["id"] },
  configuration_update: { required: [], optional: ["id", "reasoning", "text"] },
  item_reference: { required: ["id"], optional: [] },
  compaction: { required: ["encrypted_content"], optional: ["id"] },
  compaction_trigger: { required: [], optional: ["id"] },
};
