/** Checks what files add to a run: MCP servers and skills. One that is left out is a note, because the others work. */

import { type LoadedConfig, loadConfig } from "../../config/index.ts";
import { mcpEntries } from "../mcp-servers.ts";
import { readSkills } from "../skills.ts";
import { type Finding, note, ok } from "./finding.ts";

export async function checkEntries(cwd: string): Promise<readonly Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(cwd);
  } catch {
    return []; // the check of the settings has reported it
  }
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
