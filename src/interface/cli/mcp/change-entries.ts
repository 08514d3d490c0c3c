/** `mcp add` and `mcp rm`: change the user's settings, or the project's `.mcp.json`. */

import { codedError, didYouMean, isObject, toolNamePart } from "../../../base/support/index.ts";
import { parseServer } from "../../../runtime/mcp/index.ts";
import {
  changeConfigFile,
  changeMcpFile,
  projectMcpFile,
  readConfigFile,
  readMcpFile,
  userConfigFile,
} from "../../config/index.ts";
import { inertLine } from "../inert-text.ts";
import type { Terminal } from "../terminal.ts";
import { targetOf } from "./list-entries.ts";

export interface AddFlags {
  readonly url?: string;
  readonly header: readonly string[];
  readonly env: readonly string[];
  readonly project?: boolean;
  readonly force?: boolean;
}

export function addServer(
  name: string,
  command: readonly string[],
  flags: AddFlags,
  terminal: Terminal,
): void {
  const entry = entryFrom(command, flags);
  const { server, problem } = parseServer(name, entry);
  if (server === undefined)
    throw codedError(
      "mcp_server_invalid",
      `mcp add "${inertLine(name, 64)}": ${problem ?? "it cannot be used"}`,
    );
  const isProject = flags.project === true;
  const file = fileOf(isProject);
  const names = namesIn(file, isProject);
  const same = names.find((one) => toolNamePart(one) === toolNamePart(name));
  if (same !== undefined && (flags.force !== true || same !== name))
    throw codedError(
      "mcp_server_repeated",
      same === name
        ? `${inertLine(file, 300)} has the MCP server "${inertLine(name, 64)}" already: replace it with --force, or choose another name`
        : `the tools of "${inertLine(name, 64)}" would have the same names as those of "${inertLine(same, 64)}": choose another name`,
    );
  change(file, isProject, name, entry);
  for (const warning of secretsIn(flags)) terminal.stderr.write(`${warning}\n`);
  terminal.stderr.write(
    `${inertLine(name, 64)} is in ${inertLine(file, 300)}: ${targetOf(server)}\nTo see what it offers: throughline mcp test ${inertLine(name, 64)}\n`,
  );
  if (isProject)
    terminal.stderr.write("It is used once you trust the file as it is: throughline config trust\n");
}

export function removeServer(name: string, isProject: boolean, terminal: Terminal): void {
  const file = fileOf(isProject);
  const names = namesIn(file, isProject);
  if (!names.includes(name)) {
    const where = isProject ? "" : "; to remove one of the project, use --project";
    throw codedError(
      "mcp_server_unknown",
      `${inertLine(file, 300)} has no MCP server "${inertLine(name, 64)}"${didYouMean(name, names) || where}`,
    );
  }
  change(file, isProject, name, undefined);
  terminal.stderr.write(`removed ${inertLine(name, 64)} from ${inertLine(file, 300)}\n`);
}

function fileOf(isProject: boolean): string {
  return isProject ? projectMcpFile(process.cwd()) : userConfigFile();
}

function namesIn(file: string, isProject: boolean): readonly string[] {
  if (isProject) return (readMcpFile(file)?.servers ?? []).map(({ name }) => name);
  const servers = readConfigFile(file)?.values.mcpServers;
  return isObject(servers) ? Object.keys(servers) : [];
}

function change(file: string, isProject: boolean, name: string, value: unknown): void {
  if (isProject) changeMcpFile(file, name, value);
  else changeConfigFile(file, ["mcpServers", name], value);
}

function entryFrom([command, ...args]: readonly string[], { url, header, env }: AddFlags): object {
  if (url !== undefined && command !== undefined)
    throw codedError("usage", "use either a program or --url, not both");
  if (url === undefined && command === undefined)
    throw codedError(
      "usage",
      "name a program after --, or an address with --url: throughline mcp add NAME -- COMMAND",
    );
  if (url === undefined) {
    if (header.length > 0) throw codedError("usage", "--header goes with --url; a program takes --env");
    return {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(env.length === 0 ? {} : { env: pairs(env, /^([A-Za-z_]\w*)=(.*)$/s, "--env", "NAME=VALUE") }),
    };
  }
  if (env.length > 0) throw codedError("usage", "--env goes with a program; an address takes --header");
  return {
    url,
    ...(header.length === 0
      ? {}
      : { headers: pairs(header, /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/s, "--header", "'Name: value'") }),
  };
}

function pairs(given: readonly string[], form: RegExp, flag: string, use: string): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = form.exec(text) ?? [];
      if (name === undefined || value === undefined) throw codedError("usage", `${flag}: use ${use}`);
      return [name, value];
    }),
  );
}

/** A key that is written out stays in the file. Its value is not repeated here. */
function secretsIn({ header, env }: AddFlags): readonly string[] {
  return [...header, ...env]
    .filter((text) => /(?:key|token|secret|passw|auth)/i.test(text) && !text.includes("${"))
    .map((text) => {
      const name = inertLine(text.split(/[:=]/, 1)[0] ?? "", 64);
      return `${name} looks like a key and is now in the file: a variable keeps it out, such as \${MY_KEY}`;
    });
}
