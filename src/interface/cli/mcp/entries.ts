/**
 * The MCP servers of a run, from every file that names some: the user's settings, the project's `.mcp.json` and settings
 * if they are trusted, and the files of `--mcp-config`. A stronger file replaces an entry of the same name. An entry that
 * cannot be used is left out, by name and with what to change; it never stops a run, and a weaker entry does not take its
 * place.
 */

import { resolve } from "node:path";

import {
  codedError,
  codeOf,
  type ErrorCode,
  isObject,
  messageOf,
  toolNamePart,
  unmistakableLine,
} from "../../../base/support/index.ts";
import { type McpServerConfig, parseServer } from "../../../runtime/mcp/index.ts";
import {
  expandVariables,
  isIgnored,
  type LoadedConfig,
  type McpSource,
  type NamedServer,
  readServers,
} from "../../config/index.ts";
import { inertLine } from "../inert-text.ts";
import type { Terminal } from "../terminal.ts";

type Layer = McpSource["layer"];
type Variables = Readonly<Record<string, string | undefined>>;

export interface McpEntry {
  readonly name: string;
  /** With all variables expanded; `cwd` is absolute. `enabled: false` entries are here too. */
  readonly server: McpServerConfig;
  readonly layer: Layer;
  readonly file: string;
  readonly warnings: readonly string[];
  /** The entries of the same name that it replaces, the strongest first. */
  readonly replaces: readonly { readonly layer: Layer; readonly file: string }[];
}

export interface McpProblem {
  /** Absent if it is about the whole file. */
  readonly name?: string;
  readonly file: string;
  readonly code: ErrorCode;
  /** Names the file and the entry, and says what to change. Never repeats a value. */
  readonly message: string;
}

export interface McpEntries {
  /** Sorted by name. */
  readonly entries: readonly McpEntry[];
  /** What is left out, and why. */
  readonly problems: readonly McpProblem[];
  /** Servers of project files that the user does not trust. The warning about trust has named them. */
  readonly untrusted: readonly { readonly file: string; readonly names: readonly string[] }[];
  /** Values that must not be logged. */
  readonly secrets: readonly string[];
}

export interface McpOptions {
  readonly cwd: string;
  /** The files of `--mcp-config`, as given. */
  readonly files: readonly string[];
  readonly env?: Variables;
}

/** A later source replaces an earlier one, so the weakest comes first. Throws for a file of `--mcp-config`. */
export function mcpEntries(
  loaded: Pick<LoadedConfig, "mcp" | "parts">,
  { cwd, files, env = process.env }: McpOptions,
): McpEntries {
  const sources = [...loaded.mcp, ...files.map((file) => flagSource(file, cwd))];
  const problems = sources.flatMap(repeatedIn);
  const byName = new Map<string, readonly (NamedServer & { readonly source: McpSource })[]>();
  for (const source of sources.toReversed()) {
    for (const server of source.servers)
      byName.set(server.name, [...(byName.get(server.name) ?? []), { ...server, source }]);
  }
  const taken = new Map<string, string>();
  const entries: McpEntry[] = [];
  const secrets = new Set<string>();
  for (const [name, [strongest, ...weaker]] of byName) {
    if (strongest === undefined) continue;
    const { source, value } = strongest;
    const { layer, file } = source;
    const other = taken.get(toolNamePart(name));
    const made = other === undefined ? entryOf(name, value, source, env) : sameName(other);
    if ("problem" in made) {
      const told = `${file}: the MCP server ${quoted(name)} is left out: ${made.problem}`;
      problems.push({ name, file, code: made.code, message: told });
      continue;
    }
    taken.set(toolNamePart(name), name);
    for (const secret of made.secrets) secrets.add(secret);
    const { server, warnings } = made;
    const replaces = weaker.map((one) => ({ layer: one.source.layer, file: one.source.file }));
    entries.push({ name, server, layer, file, warnings, replaces });
  }
  const untrusted = loaded.parts
    .filter((part) => isIgnored(part) && part.servers.length > 0)
    .map((part) => ({ file: part.file, names: part.servers.map(({ name }) => name) }));
  return {
    entries: entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    problems,
    untrusted,
    secrets: [...secrets],
  };
}

/** Reports each entry that is left out, and each oddity, in one line. */
export function tellMcpProblems({ problems, entries }: McpEntries, terminal: Pick<Terminal, "stderr">): void {
  for (const { message, code } of problems)
    terminal.stderr.write(`throughline: ${inertLine(message, 600)} [${code}]\n`);
  for (const { name, file, warnings } of entries) {
    for (const warning of warnings)
      terminal.stderr.write(
        `throughline: ${inertLine(`${file}: MCP server ${quoted(name)}: ${warning}`, 600)}\n`,
      );
  }
}

/** The user names the file, so one that cannot be used is an error. */
function flagSource(given: string, cwd: string): McpSource {
  const file = resolve(cwd, given);
  try {
    const read = readServers(file);
    if (read !== undefined) return { layer: "flag", folder: cwd, ...read };
  } catch (error) {
    throw codedError(
      codeOf(error) === "config_unreadable" ? "config_unreadable" : "config_invalid",
      `--mcp-config: ${inertLine(messageOf(error), 500)}`,
    );
  }
  throw codedError("config_unreadable", `--mcp-config: cannot read ${inertLine(file, 300)}: no such file`);
}

function repeatedIn({ file, repeated, keyRepeated }: McpSource): readonly McpProblem[] {
  const code = "mcp_server_repeated";
  const names = repeated.map((name): McpProblem => {
    const message = `${file}: the MCP server ${quoted(name)} is there more than once: only the first counts. Rename or remove the others`;
    return { name, file, code, message };
  });
  const message = `${file}: "mcpServers" is there more than once: only the last counts. Put all servers into one`;
  return keyRepeated ? [{ file, code, message }, ...names] : names;
}

interface Refused {
  readonly problem: string;
  readonly code: ErrorCode;
}

function sameName(other: string): Refused {
  const problem = `its tools would have the same names as those of ${quoted(other)}. Rename it`;
  return { problem, code: "mcp_server_repeated" };
}

interface Made {
  readonly server: McpServerConfig;
  readonly warnings: readonly string[];
  readonly secrets: readonly string[];
}

function entryOf(name: string, value: unknown, source: McpSource, env: Variables): Made | Refused {
  const missing = new Set<string>();
  const expand = (text: string): string => {
    const expanded = expandVariables(text, env);
    for (const one of expanded.missing) missing.add(one);
    return expanded.text;
  };
  const { server, problem, warnings } = parseServer(
    name,
    isObject(value) ? expandedEntry(value, expand) : value,
  );
  if (missing.size > 0) {
    const names = [...missing].join(", ");
    const [these, them] = missing.size === 1 ? ["the variable", "it"] : ["the variables", "them"];
    const told = `${these} ${names} ${missing.size === 1 ? "is" : "are"} not set. Set ${them}, or write a default: \${NAME:-default}`;
    return { problem: told, code: "mcp_variable_unset" };
  }
  if (server === undefined) return { problem: problem ?? "it cannot be used", code: "mcp_server_invalid" };
  const ofUser = source.layer === "user" || source.layer === "flag";
  const odd =
    !ofUser && server.trust === true
      ? [...warnings, "trust is ignored: only your own files can set it"]
      : warnings;
  const placed: McpServerConfig =
    "url" in server ? server : { ...server, cwd: resolve(source.folder, server.cwd ?? ".") };
  const values = Object.values(("url" in server ? server.headers : server.env) ?? {});
  return {
    server: ofUser ? placed : { ...placed, trust: undefined },
    warnings: odd,
    secrets: values.flatMap(secretsIn),
  };
}

const TEXT_FIELDS: readonly string[] = ["command", "url", "cwd"];
const LIST_FIELDS: readonly string[] = ["args"];
const RECORD_FIELDS: readonly string[] = ["env", "headers", "oauth"];

/** A value of another type than expected stays as it is: `parseServer` refuses it. */
function expandedEntry(
  entry: Readonly<Record<string, unknown>>,
  expand: (text: string) => string,
): Readonly<Record<string, unknown>> {
  const text = (value: unknown): unknown => (typeof value === "string" ? expand(value) : value);
  return Object.fromEntries(
    Object.entries(entry).map(([field, value]) => {
      if (TEXT_FIELDS.includes(field)) return [field, text(value)];
      if (LIST_FIELDS.includes(field) && Array.isArray(value)) return [field, value.map(text)];
      if (RECORD_FIELDS.includes(field) && isObject(value))
        return [field, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, text(one)]))];
      return [field, value];
    }),
  );
}

/** Shorter values occur by chance. */
const MIN_SECRET_LENGTH = 8;

/** The value, and the key in a header such as `Bearer KEY`, which may occur alone. */
function secretsIn(value: string): readonly string[] {
  const [, key = ""] = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value) ?? [];
  return [value, key].filter((one) => one.length >= MIN_SECRET_LENGTH);
}

function quoted(name: string): string {
  return unmistakableLine(JSON.stringify(name.slice(0, 64)));
}
