/** What a program with MCP servers loads, and no other: `loadMcp` of index.ts imports it. */

export { McpSource, mcpSource } from "./mcp-source.ts";
export { McpOAuth, TokenFile } from "./oauth/index.ts";
