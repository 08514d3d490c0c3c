/** Checks what files add to a run: MCP servers and skills. One that is left out is a note, because the others work. */

import type { McpServerView } from "../../../base/api/index.ts";
import { untilAborted } from "../../../base/support/index.ts";
import { type LoadedConfig, loadConfig } from "../../config/index.ts";
import { amount } from "../amount.ts";
import { connectMcp } from "../mcp/connect.ts";
import { mcpEntries } from "../mcp/entries.ts";
import { readSkills } from "../skills.ts";
import { bad, type Finding, note, ok } from "./finding.ts";

/** How long a server may take here. A session waits twice as long. */
const PATIENCE_MS = 5000;

/** Connects to every enabled server, to say whether it works. */
export async function checkServers(cwd: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const loaded = loadedHere(cwd);
  if (loaded === undefined) return [];
  const { entries } = mcpEntries(loaded, { cwd, files: [] });
  const source = await connectMcp(
    entries.map(({ name, server }) => ({
      name,
      server: { ...server, timeoutMs: Math.min(server.timeoutMs ?? PATIENCE_MS, PATIENCE_MS) },
    })),
    { cwd },
  );
  if (source === undefined) return [];
  await untilAborted(source.ready(), signal);
  const findings = source.servers.filter(({ state }) => state !== "disabled").map(serverFinding);
  await source.close();
  return findings;
}

function serverFinding({ name, state, tools, problem, leftOut }: McpServerView): Finding {
  const odd = leftOut.length === 0 ? "" : `; left out ${leftOut.join("; ")}`;
  if (state === "connected") return ok("mcp", `${name} connected, ${amount(tools, "tool")}${odd}`);
  if (state === "login_needed") return note("mcp", `${name} needs a login`, `throughline mcp login ${name}`);
  const why = state === "failed" ? (problem ?? "") : "it did not answer in time";
  return bad("mcp", `${name} failed: ${why}`, `correct its entry, or see: throughline mcp test ${name}`);
}

function loadedHere(cwd: string): LoadedConfig | undefined {
  try {
    return loadConfig(cwd);
  } catch {
    return undefined; // the check of the settings has reported it
  }
}

export async function checkEntries(cwd: string): Promise<readonly Finding[]> {
  const loaded = loadedHere(cwd);
  if (loaded === undefined) return [];
  const mcp = mcpEntries(loaded, { cwd, files: [] });
  const skills = await readSkills(loaded);
  const servers = mcp.entries.map(({ name, layer }) => `${name} (${layer})`).join(", ");
  const names = skills.skills.map(({ name, layer }) => `${name} (${layer})`).join(", ");
  return [
    ...(servers === "" ? [] : [ok("mcp", servers)]),
    ...mcp.problems.map(({ message, code }) => note("mcp", `${message} (${code})`)),
    ...mcp.entries.flatMap(({ name, file, warnings }) =>
      warnings.map((warning) => note("mcp", `${file}: ${name}: ${warning}`)),
    ),
    ...(names === "" ? [] : [ok("skills", names)]),
    ...skills.problems.map(({ message, code }) => note("skills", `${message} (${code})`)),
    ...skills.remarks.map((remark) => note("skills", remark)),
  ];
}
