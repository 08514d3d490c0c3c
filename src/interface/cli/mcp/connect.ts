/**
 * Turns the entries of MCP servers into tools for an agent: with the logins of `throughline mcp login`, and what is
 * remembered of their eras. A run without entries loads nothing of it.
 */

import { join } from "node:path";

import { systemClock, unmistakableLine } from "../../../base/support/index.ts";
import { loadMcp, type McpOAuth, type McpSource } from "../../../runtime/mcp/index.ts";
import { dataFolder } from "../../config/index.ts";
import { atEnd } from "../at-end.ts";
import type { Terminal } from "../terminal.ts";
import type { McpEntry } from "./entries.ts";

export interface ConnectOptions {
  readonly cwd: string;
  /** The names of `--allow-tools`. Undefined: all tools. */
  readonly only?: readonly string[] | undefined;
}

const LONG_MS = 1000;
const MOST_NAMES = 5;

type Reached = Pick<McpEntry, "name" | "server">;

/** By their entries: a chat that changes its session, and all sessions of a server in one folder, share them. */
const connected = new Map<string, Promise<McpSource>>();

/** Begins to connect at once. The connections end with the command. Undefined if no entry is enabled. */
export async function connectMcp(
  entries: readonly Reached[],
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

/** A server may take ten seconds. Whoever waits for the answer learns what it is that takes so long. */
export function tellWaiting(source: McpSource, terminal: Pick<Terminal, "stderr" | "dim">): void {
  const tell = (): void => {
    const names = source.servers.filter(({ state }) => state === "connecting").map(({ name }) => name);
    if (names.length === 0) return;
    const some = `the MCP ${names.length === 1 ? "server" : "servers"} ${unmistakableLine(names.join(", "))}`;
    const what = names.length > MOST_NAMES ? `${names.length} MCP servers` : some;
    terminal.stderr.write(terminal.dim(`waiting for ${what}\n`));
  };
  setTimeout(tell, LONG_MS).unref();
}

async function connect(entries: readonly Reached[], { cwd, only }: ConnectOptions): Promise<McpSource> {
  const { mcpSource } = await loadMcp();
  const { eraMemory } = await import("./eras.ts");
  const own = new Map<string, McpOAuth>();
  for (const entry of entries) {
    const login = await loginAt(entry);
    if (login !== undefined) own.set(entry.name, login);
  }
  const source = mcpSource({
    servers: Object.fromEntries(entries.map(({ name, server }) => [name, server])),
    host: { cwd, clock: systemClock, eras: eraMemory(), authProvider: (name) => own.get(name) },
    secrets: () => [...own.values()].flatMap((login) => login.secrets()),
    only,
  });
  source.start();
  return source;
}

/** By server: the object remembers what the server asked for. */
const logins = new Map<string, McpOAuth>();

/** The login at a server. Undefined for a program, and for an entry with a key of its own. */
export async function loginAt({ name, server }: Reached): Promise<McpOAuth | undefined> {
  if (!("url" in server) || hasKey(server.headers)) return undefined;
  const key = JSON.stringify([name, server.url, server.oauth]);
  const known = logins.get(key);
  if (known !== undefined) return known;
  const mcp = await loadMcp();
  const tokens = new mcp.TokenFile(join(dataFolder(), "mcp-logins.json"));
  const made = new mcp.McpOAuth({ name, url: server.url, tokens, client: server.oauth });
  logins.set(key, made);
  return made;
}

function hasKey(headers: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization");
}
