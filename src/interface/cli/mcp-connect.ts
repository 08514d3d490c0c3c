/**
 * Turns the entries of MCP servers into tools for an agent: with the logins of `throughline mcp login`, and what is
 * remembered of their eras. A run without entries loads nothing of it.
 */

import { join } from "node:path";

import { systemClock } from "../../base/support/index.ts";
import type { McpSource, TokenFile } from "../../runtime/mcp/index.ts";
import { dataFolder } from "../config/index.ts";
import { atEnd } from "./at-end.ts";
import type { McpEntry } from "./mcp-servers.ts";

export interface ConnectOptions {
  readonly cwd: string;
  /** The names of `--allow-tools`. Undefined: all tools. */
  readonly only?: readonly string[] | undefined;
}

/** By their entries: a chat that changes its session, and all sessions of a server in one folder, share them. */
const connected = new Map<string, Promise<McpSource>>();

/** Begins to connect at once. The connections end with the command. Undefined if no entry is enabled. */
export async function connectMcp(
  entries: readonly McpEntry[],
  options: ConnectOptions,
): Promise<McpSource | undefined> {
  if (entries.every(({ server }) => server.enabled === false)) return undefined;
  const key = JSON.stringify([options, entries.map(({ name, server }) => [name, server])]);
  const known = connected.get(key);
  if (known !== undefined) return known;
  const made = connect(entries, options);
  connected.set(key, made);
  atEnd(async () => (await made).close());
  return made;
}

async function connect(entries: readonly McpEntry[], { cwd, only }: ConnectOptions): Promise<McpSource> {
  const { isHttp, McpOAuth, mcpSource } = await import("../../runtime/mcp/index.ts");
  const { eraMemory } = await import("./mcp-eras.ts");
  const tokens = await loginFile();
  const logins = new Map<string, InstanceType<typeof McpOAuth>>();
  for (const { name, server } of entries) {
    if (isHttp(server) && !hasKey(server.headers))
      logins.set(name, new McpOAuth({ name, url: server.url, tokens, client: server.oauth }));
  }
  const source = mcpSource({
    servers: Object.fromEntries(entries.map(({ name, server }) => [name, server])),
    host: { cwd, clock: systemClock, eras: eraMemory(), authProvider: (name) => logins.get(name) },
    secrets: () => [...logins.values()].flatMap((login) => login.secrets()),
    only,
  });
  source.start();
  return source;
}

/** The file of the logins, which every command uses. */
export async function loginFile(): Promise<TokenFile> {
  const mcp = await import("../../runtime/mcp/index.ts");
  return new mcp.TokenFile(join(dataFolder(), "mcp-logins.json"));
}

/** A server with a key of its own in the entry needs no login. */
function hasKey(headers: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization");
}
