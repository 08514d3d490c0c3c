/**
 * The `parallel` wrapper: OpenAI models at times emit one call to a function nobody offered, which holds
 * several real calls. It is expanded for execution only; the original call is replayed as it was and gets
 * one output.
 */

import { isObject } from "../../base/support/index.ts";

export interface ExpandedCall {
  readonly name: string;
  readonly input: unknown;
}

const WRAPPER_NAMES: ReadonlySet<string> = new Set(["parallel", "multi_tool_use.parallel"]);
const RECIPIENT_PREFIX = "functions.";

/**
 * `undefined` when this is no such call, or one that is not wholly understood: half of it is never run.
 * A tool that is really registered under the name comes first; the caller looks there before.
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
