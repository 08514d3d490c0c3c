/**
 * The built-in tools of a folder, made once for its sessions: thousands that are followed at the same time are mostly
 * of a few folders. Only the folders that were used last are kept.
 */

import { builtinTools, type Tool } from "../../runtime/tools/index.ts";

const KEPT = 32;

/** Returns the same tools for the same folder. */
export function recentTools(): (cwd: string) => readonly Tool[] {
  const known = new Map<string, readonly Tool[]>();
  return (cwd) => {
    const tools = known.get(cwd) ?? builtinTools({ cwd });
    known.delete(cwd); // so that the last one used is the last of the map
    known.set(cwd, tools);
    const [oldest] = known.keys();
    if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
    return tools;
  };
}
