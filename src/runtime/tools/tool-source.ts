/**
 * Where tools come from that can change between turns, such as MCP servers. A session asks its sources before each turn.
 * What a session has declared once stays declared while its source is away: a changed list of tools changes the start of
 * every request.
 */

import type { McpPrompt, McpPromptMessage, McpServerView } from "../../base/api/index.ts";
import type { ServerInstructions, ToolSpec } from "../../base/events/index.ts";
import type { Tool } from "./tool.ts";

/** What a session's last request declared. */
export interface DeclaredTools {
  readonly tools: readonly ToolSpec[];
  readonly instructions: readonly ServerInstructions[];
  /** Exactly this is wanted: a turn that goes on after a crash keeps what it had. False if nothing was declared. */
  readonly keep: boolean;
}

export interface SourcedTools {
  /** In the order in which they are declared. */
  readonly tools: readonly Tool[];
  /** The tools that read resources. Several sources give them the same names, so a session declares them last, once. */
  readonly resources: readonly Tool[];
  /** Whether a server of this source has resources now. If not, the session has only declared such tools before. */
  readonly hasResources: boolean;
  /** Once declared, the text of a server never changes in a session. */
  readonly instructions: readonly ServerInstructions[];
  /** What a person should know, each said once: servers that are away, tools that cannot be used. */
  readonly problems: readonly string[];
}

/** Registered, because a tools file may load another copy of the package than the command line. */
export const TOOL_SOURCE = Symbol.for("throughline.tool-source/1");

/** The tools of MCP servers. Pass it to `createAgent` in `tools`, and close it when the agent is no longer used. */
export interface McpTools extends AsyncDisposable {
  readonly [TOOL_SOURCE]: true;
  /** The tools that the servers have now, as a list that does not change. An agent with the whole object follows changes. */
  readonly tools: readonly Tool[];
  /** Each server and its state. */
  readonly servers: readonly McpServerView[];
  /** Connects a server again, or all that are not connected. Resolves when they have answered or failed. */
  reconnect(server?: string): Promise<void>;
  /** Ends all connections and the servers that were started. */
  close(): Promise<void>;
}

/** What a session does with it. */
export interface ToolSource extends McpTools {
  /** For messages. */
  readonly name: string;
  /** Resolves when there is nothing more to wait for before a request. Never rejects. */
  ready(): Promise<void>;
  toolsFor(declared: DeclaredTools): SourcedTools;
  /** Values to keep out of the log. */
  secrets(): readonly string[];
  prompts(): Promise<readonly McpPrompt[]>;
  prompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<readonly McpPromptMessage[]>;
  /** Calls back when the state of a server changes. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

/** The tool as a request declares it. */
export function specOf({ name, description, parameters, strict, mcp }: Tool): ToolSpec {
  return { name, description, parameters, strict, ...(mcp === undefined ? {} : { mcp }) };
}

export function isToolSource(value: unknown): value is ToolSource {
  return typeof value === "object" && value !== null && TOOL_SOURCE in value;
}
