/** `mcp list`: every entry of every file, and what becomes of it. Nothing is started. */

import { unmistakableLine } from "../../../base/support/index.ts";
import type { McpServerConfig } from "../../../runtime/mcp/index.ts";
import { inertLine } from "../inert-text.ts";
import { printJson, type Terminal } from "../terminal.ts";
import type { McpEntry } from "./entries.ts";
import { entriesHere } from "./find-entry.ts";

export function listServers(
  { files, json }: { readonly files: readonly string[]; readonly json: boolean },
  terminal: Terminal,
): void {
  const found = entriesHere(files, terminal);
  const { entries, problems, untrusted } = found;
  if (json) return printJson(terminal.stdout, { servers: entries.map(forJson), problems, untrusted });
  for (const entry of entries) {
    const { name, server, layer, file, replaces, warnings } = entry;
    const off = server.enabled === false ? " (disabled)" : "";
    const over = replaces.map((one) => ` It replaces the one of ${inertLine(one.file, 300)}.`).join("");
    terminal.stdout.write(`${unmistakableLine(name)}${off}  ${targetOf(server)}\n`);
    terminal.stdout.write(`  from ${inertLine(file, 300)} (${layer}).${over}\n`);
    for (const warning of warnings) terminal.stdout.write(`  ! ${inertLine(warning, 300)}\n`);
  }
  for (const { message, code } of problems) terminal.stdout.write(`! ${inertLine(message, 600)} [${code}]\n`);
  for (const { file, names } of untrusted)
    terminal.stdout.write(
      `! ${inertLine(file, 300)} is not trusted, so these are left out: ${inertLine(names.join(", "), 300)}. To accept the file as it is: throughline config trust [project_untrusted]\n`,
    );
  if (entries.length + problems.length + untrusted.length === 0)
    terminal.stderr.write("there are no MCP servers yet: throughline mcp add NAME -- COMMAND\n");
}

/** The exact program and arguments, or the address. Variables and headers may hold keys and are not shown. */
export function targetOf(server: McpServerConfig): string {
  const words = "url" in server ? [server.url] : [server.command, ...(server.args ?? [])];
  return words.map((word) => unmistakableLine(/\s|^$/.test(word) ? JSON.stringify(word) : word)).join(" ");
}

function forJson({ name, server, layer, file, warnings, replaces }: McpEntry): object {
  const { enabled = true, tools = null, timeoutMs = null, trust = false } = server;
  const reached =
    "url" in server
      ? { url: server.url, headers: Object.keys(server.headers ?? {}) }
      : {
          command: server.command,
          args: server.args ?? [],
          cwd: server.cwd,
          env: Object.keys(server.env ?? {}),
        };
  return { name, enabled, ...reached, tools, timeoutMs, trust, layer, file, replaces, warnings };
}
