/** Finds the entry that a command names, and says what to do if there is none. */

import { codedError, didYouMean } from "../../../base/support/index.ts";
import { inertLine } from "../inert-text.ts";
import { settingsHere } from "../project-trust.ts";
import type { Terminal } from "../terminal.ts";
import { type McpEntries, mcpEntries, type McpEntry } from "./entries.ts";

/** All entries that are in force here. Asks nothing: an untrusted file of the project is left out. */
export function entriesHere(files: readonly string[], terminal: Pick<Terminal, "stderr">): McpEntries {
  return mcpEntries(settingsHere(terminal), { cwd: process.cwd(), files });
}

export function findEntry(name: string, found: McpEntries): McpEntry {
  const entry = found.entries.find((one) => one.name === name);
  if (entry !== undefined) return entry;
  const problem = found.problems.find((one) => one.name === name);
  if (problem !== undefined) throw codedError(problem.code, problem.message);
  const untrusted = found.untrusted.find(({ names }) => names.includes(name));
  if (untrusted !== undefined)
    throw codedError(
      "mcp_server_unknown",
      `${inertLine(untrusted.file, 300)} has the server "${inertLine(name, 64)}", but you do not trust the file: throughline config trust`,
    );
  const names = found.entries.map((one) => one.name);
  const known =
    names.length === 0 ? "there are none yet: throughline mcp add" : `use one of ${names.join(", ")}`;
  throw codedError(
    "mcp_server_unknown",
    `there is no MCP server "${inertLine(name, 64)}"${didYouMean(name, names) || `; ${inertLine(known, 500)}`}`,
  );
}
