/** `mcpTools`: the tools of MCP servers for an agent. */

import {
  aFunction,
  anObject,
  aText,
  checkOptions,
  codedError,
  type OptionChecks,
  systemClock,
  toolNamePart,
} from "../../base/support/index.ts";
import type { McpTools } from "../tools/index.ts";
import { type McpServerConfig, parseServer } from "./server-config.ts";

/** Options of `mcpTools`. */
export interface McpToolsOptions {
  /** How each server is reached, by name. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Where servers are started. Default: the current directory. */
  readonly cwd?: string | undefined;
  /** Replaces Node's `fetch`. */
  readonly fetch?: ((url: string | URL, init?: RequestInit) => Promise<Response>) | undefined;
}

const MCP_OPTIONS = {
  servers: anObject,
  cwd: aText,
  fetch: aFunction,
} satisfies OptionChecks<McpToolsOptions>;

/**
 * Connects to MCP servers and resolves when all of them have answered or failed, after 10 seconds at most. A server that
 * fails never rejects: `servers` says why, and it is tried again at its next call. Throws `options_invalid` for a server
 * that cannot be one.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, mcpTools } from "throughline";
 *
 * const mcp = await mcpTools({
 *   servers: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } },
 * });
 * const agent = createAgent({ model: emulator(), tools: [mcp] });
 * const session = await agent.open();
 * console.log(await session.send("What is in this folder?").text());
 * await session.close();
 * await mcp.close();
 * ```
 */
export async function mcpTools(options: McpToolsOptions): Promise<McpTools> {
  checkOptions("mcpTools", options, MCP_OPTIONS);
  const servers = checkedServers(options.servers);
  const { cwd = process.cwd(), fetch } = options;
  // Loaded here: a program without MCP servers loads nothing of this.
  const { mcpSource } = await import("./loaded.ts");
  const source = mcpSource({ servers, host: { cwd, clock: systemClock, fetch } });
  await source.ready();
  return source;
}

function checkedServers(given: Readonly<Record<string, unknown>>): Readonly<Record<string, McpServerConfig>> {
  const servers: Record<string, McpServerConfig> = {};
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const { server, problem, warnings } = parseServer(name, value);
    const wrong = problem ?? warnings[0];
    if (server === undefined || wrong !== undefined)
      throw codedError("options_invalid", `mcpTools: servers.${name}: ${wrong ?? "use an object"}`);
    const other = names.get(toolNamePart(name));
    if (other !== undefined)
      throw codedError(
        "options_invalid",
        `mcpTools: the servers "${other}" and "${name}" have the same name for models: rename one`,
      );
    names.set(toolNamePart(name), name);
    servers[name] = server;
  }
  return servers;
}
