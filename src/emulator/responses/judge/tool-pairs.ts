/**
 * Calls and outputs (T01, T02, T10): every call has exactly one output, after it; every output has a call before it. A
 * call that the server ran contains its result (`mcp_call`) or has no call id to pair by (a tool search by the server).
 * A program's output may be alone (Menci/Floway#180), and a program may wait for the results of its calls.
 */

import { objectOf, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { Switches } from "../../switches.ts";
import type { ContextItem } from "./context.ts";
import { noProgram, noToolCall, noToolOutput } from "./refusals.ts";

/** The calls each output can answer. A function call output may also answer a local shell call (codex). */
const pairs: Readonly<Record<string, readonly string[]>> = {
  function_call_output: ["function_call", "local_shell_call"],
  custom_tool_call_output: ["custom_tool_call"],
  computer_call_output: ["computer_call"],
  local_shell_call_output: ["local_shell_call"],
  shell_call_output: ["shell_call"],
  apply_patch_call_output: ["apply_patch_call"],
  tool_search_output: ["tool_search_call"],
};
const calls: ReadonlySet<string> = new Set(Object.values(pairs).flat());

export function checkToolPairs(context: readonly ContextItem[], switches: Switches): readonly ApiRefusal[] {
  const refusals: ApiRefusal[] = [];
  const open = new Map<string, string>();
  const answered = new Set<string>();
  const programs = new Set<string>();
  for (const one of context) {
    const callId = pairedBy(one);
    if (callId === undefined) continue;
    if (one.type === "program") programs.add(callId);
    const caller = objectOf(one.item["caller"]);
    if (calls.has(one.type)) {
      const program = caller["type"] === "program" ? (stringOf(caller["caller_id"]) ?? "") : undefined;
      if (program !== undefined && !programs.has(program))
        refusals.push(noProgram(one.type, callId, program));
      open.set(callId, one.type);
      answered.delete(callId); // T07: a vendor may reuse call ids; the pair is what counts
      continue;
    }
    const answers = pairs[one.type];
    if (answers === undefined) continue;
    if (answers.includes(open.get(callId) ?? "")) {
      open.delete(callId);
      answered.add(callId);
    } else if (!answered.has(callId)) {
      refusals.push(noToolCall("T02", one.type, callId));
    } else if (switches.duplicateOutputs === "refuse") {
      refusals.push(noToolCall("T10", one.type, callId));
    }
  }
  for (const [callId, type] of open) refusals.push(noToolOutput(type, callId));
  return refusals;
}

/** In the official types, the `id` of a local shell output is the id of its call. */
function pairedBy(one: ContextItem): string | undefined {
  return one.callId ?? (one.type === "local_shell_call_output" ? one.id : undefined);
}
