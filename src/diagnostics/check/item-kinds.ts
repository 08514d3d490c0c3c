/** Which Responses items are calls and outputs. */

export function isCallType(type: string): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

export function isOutputType(type: string): boolean {
  return type === "function_call_output" || type === "custom_tool_call_output";
}
