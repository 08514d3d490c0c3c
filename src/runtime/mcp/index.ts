/**
 * Tools of MCP servers: how a server is reached, its connection, its tools, and their calls. A program without servers
 * loads only this file and the form of an entry; the rest is loaded by `mcpTools` and `loadMcp`.
 */

import type * as Loaded from "./loaded.ts";

export type { EraMemory } from "./connection.ts";
export type { McpSource } from "./mcp-source.ts";
export { mcpTools, type McpToolsOptions } from "./mcp-tools.ts";
export type { McpOAuth, OAuthClientOptions } from "./oauth/index.ts";
export { type HttpServer, type McpServerConfig, parseServer, type StdioServer } from "./server-config.ts";

export const loadMcp = (): Promise<typeof Loaded> => import("./loaded.ts");
