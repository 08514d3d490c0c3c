/**
 * Calls and outputs (T01, T02, T10): every call has exactly one output, after it; every output has a call before it.
 */

import type { ApiRefusal } from "../../api-refusal.ts";
import type { Switches } from "../../switches.ts";
import type { ContextItem } from "./context.ts";
import { noToolCall, noToolOutput } from "./refusals.ts";

const pairs: Readonly<Record<string, string>> = {
  function_call_output: "function_call",
  custom_tool_call_output: "custom_tool_call",
};

export function checkToolPairs(context: readonly ContextItem[], switches: Switches): readonly ApiRefusal[] {
  const refusals: ApiRefusal[] = [];
  const open = new Map<string, string>();
  const answered = new Set<string>();
  for (const one of context) {
    if (one.callId === undefined) continue;
    if (one.type === "function_call" || one.type === "custom_tool_call") {
      open.set(one.callId, one.type);
      answered.delete(one.callId); // T07: a vendor may reuse call ids; the pair is what counts
      continue;
    }
    const callType = pairs[one.type];
    if (callType === undefined) continue;
    if (open.get(one.callId) === callType) {
      open.delete(one.callId);
      answered.add(one.callId);
    } else if (!answered.has(one.callId)) {
      refusals.push(noToolCall("T02", one.type, one.callId));
    } else if (switches.duplicateOutputs === "refuse") {
      refusals.push(noToolCall("T10", one.type, one.callId));
    }
  }
  for (const [callId, type] of open) refusals.push(noToolOutput(type, callId));
  return refusals;
}
