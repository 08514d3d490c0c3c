/**
 * One agent's tools by name. Two tools with one name are a programming error, because the model could not tell them
 * apart.
 */

import { toolInvalid } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

export interface ToolRegistry {
  get(name: string): Tool | undefined;
  /** In the given order, in which the provider receives them. */
  readonly list: readonly Tool[];
}

export function createRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw toolInvalid(tool.name, "there are two tools with this name");
    byName.set(tool.name, tool);
  }
  return { get: (name) => byName.get(name), list: Object.freeze([...tools]) };
}
