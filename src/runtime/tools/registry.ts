/**
 * The tools of one agent by name. A name means one tool: two of the same name are a programmer's error,
 * because the model could not say which it means.
 */

import { toolInvalid } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

export interface ToolRegistry {
  get(name: string): Tool | undefined;
  /** In the given order, which is the order the provider is sent. */
  readonly list: readonly Tool[];
}

export function createRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw toolInvalid(tool.name, "there are two tools of this name");
    byName.set(tool.name, tool);
  }
  return { get: (name) => byName.get(name), list: Object.freeze([...tools]) };
}
