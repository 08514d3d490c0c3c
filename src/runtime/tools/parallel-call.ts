/**
 * The `parallel` wrapper: OpenAI models sometimes call a function that was never offered and that wraps several real
 * calls. It is expanded only for execution; the original call is replayed unchanged and gets one output.
 */

import { isObject } from "../../base/support/index.ts";

export interface ExpandedCall {
  readonly name: string;
  readonly input: unknown;
}

const WRAPPER_NAMES: ReadonlySet<string> = new Set(["parallel", "multi_tool_use.parallel"]);
const RECIPIENT_PREFIX = "functions.";

/**
 * Returns `undefined` if this is not such a call or is not fully understood: it is never run in part. A tool registered
 * under this name takes precedence; the caller checks for one first.
 */
export function expandParallelCall(name: string, args: unknown): readonly ExpandedCall[] | undefined {
  if (!WRAPPER_NAMES.has(name) || !isObject(args)) return undefined;
  const uses = args["tool_uses"];
  if (!Array.isArray(uses) || uses.length === 0) return undefined;
  const calls: ExpandedCall[] = [];
  for (const use of uses as readonly unknown[]) {
    const recipient = isObject(use) ? use["recipient_name"] : undefined;
    if (!isObject(use) || typeof recipient !== "string" || recipient === "") return undefined;
    const called = recipient.startsWith(RECIPIENT_PREFIX)
      ? recipient.slice(RECIPIENT_PREFIX.length)
      : recipient;
    calls.push({ name: called, input: use["parameters"] });
  }
  return calls;
}
