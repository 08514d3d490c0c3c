/** The items that are calls for the client to answer, and the items that answer them (openai 7.53 responses.d.ts). */

import { arrayOf, isObject, tryParseJson } from "../../../base/support/index.ts";

/** With the noun that refusals use (openai/openai-agents-python#1855 for local_shell, a recorded refusal for shell). */
const CALLS: Readonly<Record<string, string>> = {
  function_call: "function call",
  custom_tool_call: "custom tool call",
  shell_call: "shell call",
  local_shell_call: "local shell call",
  apply_patch_call: "apply patch call",
};

const CALL_TYPES: ReadonlySet<string> = new Set(Object.keys(CALLS));
const OUTPUT_TYPES: ReadonlySet<string> = new Set(Object.keys(CALLS).map((type) => `${type}_output`));

export function isCallType(type: string): boolean {
  return CALL_TYPES.has(type);
}

export function isOutputType(type: string): boolean {
  return OUTPUT_TYPES.has(type);
}

/** For a call or its output. */
export function nounOf(type: string): string {
  return CALLS[callTypeOf(type)] ?? "tool call";
}

function callTypeOf(type: string): string {
  return type.replace(/_output$/, "");
}

export interface CallResult {
  readonly callId: string;
  readonly text: string;
  readonly failed: boolean;
}

/** Returns the item that answers a call of this type. */
export function callOutput(itemType: string, { callId, text, failed }: CallResult): Record<string, unknown> {
  switch (itemType) {
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id: callId, output: text };
    case "shell_call": {
      const outcome = { type: "exit", exit_code: failed ? 1 : 0 };
      const output = failed ? { stdout: "", stderr: text, outcome } : { stdout: text, stderr: "", outcome };
      return { type: "shell_call_output", call_id: callId, output: [output] };
    }
    case "local_shell_call":
      // The types call it `id`, but the server expects `call_id` (openai/openai-agents-python#1855).
      return { type: "local_shell_call_output", call_id: callId, output: text };
    case "apply_patch_call":
      return {
        type: "apply_patch_call_output",
        call_id: callId,
        status: failed ? "failed" : "completed",
        output: text,
      };
    case "tool_search_call":
      // The list that a tool of that name returned; a failure finds nothing.
      return {
        type: "tool_search_output",
        call_id: callId,
        execution: "client",
        status: "completed",
        tools: arrayOf(tryParseJson(text)).filter(isObject),
      };
    case "mcp_approval_request":
      // Only a tool of that name can approve, by returning `true`.
      return {
        type: "mcp_approval_response",
        approval_request_id: callId,
        approve: !failed && text === "true",
        reason: text,
      };
    default:
      return { type: "function_call_output", call_id: callId, output: text };
  }
}
