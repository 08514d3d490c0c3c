/** Remembers which tools were defined without `access`, so that a denial by default can say what to change. */

import type { Tool } from "./tool.ts";

/** The code of the notice in the log, and of the process warning. */
export const TOOL_DENIED_BY_DEFAULT = "tool_denied_by_default";

export const deniedByDefaultAdvice =
  'a tool without "access" counts as "execute", and an agent without "permissions" is "read-only". Set access: "read" on the tool if it only reads, or permissions: "ask" or "auto" on the agent';

const byDefault = new WeakSet<Tool>();

export function markAccessByDefault<T extends Tool>(tool: T): T {
  byDefault.add(tool);
  return tool;
}

/** Whether the author of the tool did not say what a call may do. */
export function isAccessByDefault(tool: Tool): boolean {
  return byDefault.has(tool);
}
