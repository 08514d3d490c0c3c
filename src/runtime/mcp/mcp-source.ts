/**
 * The tools of all MCP servers of an agent. Servers connect in parallel, and none of them can keep a session from
 * starting: who is late or broken is said once, and joins at the next turn. The order of the tools is that of their
 * servers' names and of their own, never that of connecting.
 */

import type { McpPrompt, McpPromptMessage, McpServerView } from "../../base/api/index.ts";
import type { ServerInstructions, ToolSpec } from "../../base/events/index.ts";
import { codedError, didYouMean } from "../../base/support/index.ts";
import {
  type DeclaredTools,
  type SourcedTools,
  specOf,
  type Tool,
  TOOL_SOURCE,
  type ToolSource,
} from "../tools/index.ts";
import { Connection, type ConnectionHost } from "./connection.ts";
import { declaredTool, mcpTool } from "./mcp-tool.ts";
import { promptOf, promptsOf } from "./prompts.ts";
import { haveResources, resourceTools } from "./resource-tools.ts";
import type { McpServerConfig } from "./server-config.ts";
import { toolNames } from "./tool-names.ts";

/** How long the first request waits for all servers together. */
const WAIT_MS = 10_000;

export interface McpSourceOptions {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly host: ConnectionHost;
  readonly secrets: () => readonly string[];
  /** Only tools with these names are declared. Undefined: all. */
  readonly only?: readonly string[] | undefined;
}

export class McpSource implements ToolSource {
  readonly [TOOL_SOURCE] = true;
  readonly #connections: readonly Connection[];
  readonly #options: McpSourceOptions;
  readonly #listeners = new Set<() => void>();
  #settled: Promise<void> | undefined;

  constructor(options: McpSourceOptions) {
    this.#options = options;
    this.#connections = Object.entries(options.servers)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, server]) => new Connection(name, server, options.host));
    for (const one of this.#connections) one.onChange(() => this.#changed());
  }

  get name(): string {
    return `the MCP servers ${this.#connections.map(({ name }) => name).join(", ")}`;
  }

  get servers(): readonly McpServerView[] {
    return this.#connections.map(({ view }) => view);
  }

  get tools(): readonly Tool[] {
    const { tools, resources } = this.toolsFor({ tools: [], instructions: [], keep: false });
    return [...tools, ...resources];
  }

  secrets(): readonly string[] {
    return this.#options.secrets();
  }

  /** Starts to connect to all servers. Does not wait. */
  start(): void {
    this.#settled ??= this.#connectAll();
  }

  ready(): Promise<void> {
    this.start();
    return this.#settled as Promise<void>;
  }

  toolsFor(declared: DeclaredTools): SourcedTools {
    const parts = this.#enabled.map((connection) => this.#partOf(connection, declared));
    const tools = parts.flatMap((part) => part.tools);
    const { only } = this.#options;
    const wanted = ({ name }: Tool): boolean => only?.includes(name) !== false;
    return {
      tools: tools.filter(wanted),
      resources: resourceTools(this.#enabled, declared).filter(wanted),
      hasResources: haveResources(this.#enabled),
      instructions: parts.flatMap((part) => part.instructions),
      problems: parts.flatMap((part) => part.problems),
    };
  }

  async reconnect(server?: string): Promise<void> {
    const wanted = server === undefined ? this.#enabled : [this.#named(server)];
    const away = wanted.filter(({ client }) => server !== undefined || client === undefined);
    await Promise.all(away.map((connection) => connection.reconnect()));
  }

  async prompts(): Promise<readonly McpPrompt[]> {
    return (await Promise.all(this.#enabled.map((connection) => promptsOf(connection)))).flat();
  }

  prompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<readonly McpPromptMessage[]> {
    return promptOf(this.#named(server), name, given);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #enabled(): readonly Connection[] {
    return this.#connections.filter(({ server }) => server.enabled !== false);
  }

  #named(server: string): Connection {
    const found = this.#connections.find(({ name }) => name === server);
    if (found !== undefined && found.server.enabled !== false) return found;
    const names = this.#enabled.map(({ name }) => name);
    const known = names.length === 0 ? "there are none" : `use one of ${names.join(", ")}`;
    throw codedError(
      "mcp_server_unknown",
      found === undefined
        ? `there is no MCP server "${server}"${didYouMean(server, names) || `; ${known}`}`
        : `the MCP server "${server}" is disabled: set "enabled": true in its entry`,
    );
  }

  async #connectAll(): Promise<void> {
    const { clock } = this.#options.host;
    const waiting = new AbortController();
    const connected = Promise.all(this.#enabled.map((connection) => connection.connect()));
    await Promise.race([connected, clock.sleep(WAIT_MS, waiting.signal).catch(() => undefined)]);
    waiting.abort();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #partOf(
    connection: Connection,
    declared: DeclaredTools,
  ): Pick<SourcedTools, "tools" | "instructions" | "problems"> {
    const { name, view } = connection;
    const before = declared.tools.filter(({ mcp }) => mcp?.server === name);
    const said = declared.instructions.filter(({ server }) => server === name);
    const listed = connection.tools === undefined ? undefined : listedTools(connection);
    const tools = listed === undefined || declared.keep ? keptTools(before, listed, connection) : listed;
    const now: readonly ServerInstructions[] =
      connection.instructions === undefined ? [] : [{ server: name, text: connection.instructions }];
    return {
      tools,
      // A server that said nothing when its tools were declared says nothing later either.
      instructions: said.length > 0 || before.length > 0 || declared.keep ? said : now,
      problems: problemsOf(view, before.length),
    };
  }
}

/** The tools as the session declared them. One that its server still describes so is known better than by its words. */
function keptTools(
  before: readonly ToolSpec[],
  listed: readonly Tool[] = [],
  connection: Connection,
): readonly Tool[] {
  return before.map((spec) => {
    const same = listed.find((one) => JSON.stringify(specOf(one)) === JSON.stringify(spec));
    return same ?? declaredTool(spec, spec.mcp?.tool ?? "", connection);
  });
}

function listedTools(connection: Connection): readonly Tool[] {
  const definitions = connection.tools ?? [];
  const names = toolNames(
    connection.name,
    definitions.map(({ tool }) => tool),
  );
  return definitions.map((definition, index) => mcpTool(names[index] as string, definition, connection));
}

function problemsOf({ name, state, problem, leftOut }: McpServerView, kept: number): readonly string[] {
  const odd = leftOut.length === 0 ? [] : [`MCP server ${name}: left out ${leftOut.join("; ")}`];
  if (state === "connected") return odd;
  const tools =
    kept === 0 ? "none of its tools can be used" : "its tools stay declared, and their calls fail meanwhile";
  if (state === "connecting")
    return [...odd, `MCP server ${name} is not connected yet: ${tools}. It joins at the next turn`];
  if (state === "login_needed")
    return [...odd, `MCP server ${name} needs a login: ${tools}. Run throughline mcp login ${name}`];
  if (state === "failed") return [...odd, `MCP server ${name} failed: ${problem ?? "unknown"}. So ${tools}`];
  return odd; // lost: the next call connects again
}

export interface McpSourceParts {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly host: ConnectionHost;
  readonly secrets?: (() => readonly string[]) | undefined;
  readonly only?: readonly string[] | undefined;
}

/** Begins to connect when it is first asked for tools, or by `start`. */
export function mcpSource({ servers, host, secrets = () => [], only }: McpSourceParts): McpSource {
  const own = Object.values(servers).flatMap(secretsOf);
  return new McpSource({
    servers,
    host,
    secrets: () => [...own, ...secrets()],
    only,
  });
}

/** Values that a tool might print and no log should hold. */
function secretsOf(server: McpServerConfig): readonly string[] {
  const values = "url" in server ? server.headers : server.env;
  return Object.values(values ?? {})
    .flatMap((value) => [value, value.replace(/^(?:Bearer|Basic|Token)\s+/i, "")])
    .filter((value) => value.length >= 8);
}
