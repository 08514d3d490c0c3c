/**
 * The names that people know the tools of MCP servers by. Models get others, such as `mcp__docs__search`; events say which
 * server and which tool such a name stands for.
 */

import type { McpToolName } from "../../base/events/index.ts";
import { unmistakableLine } from "../../base/support/index.ts";

/** Returns what a viewer calls a tool: `docs/search` for a tool of an MCP server, otherwise its name. */
export function toolLabel(tool: { readonly name: string; readonly mcp?: McpToolName | undefined }): string {
  return tool.mcp === undefined ? tool.name : `${tool.mcp.server}/${tool.mcp.tool}`;
}

/**
 * Returns what a question about a call of a tool of an MCP server must say besides its arguments: the server, the server's
 * own name of the tool, and whether the server has changed it. No lines for any other tool.
 */
export function mcpQuestionLines(asked: {
  readonly mcp?: McpToolName | undefined;
  readonly changed?: boolean | undefined;
}): readonly string[] {
  if (asked.mcp === undefined) return [];
  const { server, tool } = asked.mcp;
  const whose = `MCP server ${unmistakableLine(server)}, its tool ${unmistakableLine(tool)}`;
  return asked.changed === true ? [whose, CHANGED] : [whose];
}

const CHANGED = "! The server changed the description or schema of this tool since you last allowed it.";

/** What the events so far explain. A name depends on nothing but the two names it is made of, so it holds on every branch. */
export class ToolNames {
  readonly #known = new Map<string, McpToolName>();

  add(tools: readonly { readonly name: string; readonly mcp?: McpToolName | undefined }[]): void {
    for (const { name, mcp } of tools) if (mcp !== undefined) this.#known.set(name, mcp);
  }

  of(name: string): McpToolName | undefined {
    return this.#known.get(name);
  }

  label(name: string): string {
    return toolLabel({ name, mcp: this.of(name) });
  }
}
