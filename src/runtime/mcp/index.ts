/**
 * Tools of MCP servers: how a server is reached, its connection, its tools, and their calls. A program without servers
 * loads only this file and the form of an entry; the rest is loaded by `mcpTools` and `loadMcp`. What is marked internal
 * is not in the published types: it names types of the bundled client package, which users do not install.
 */

import type * as Loaded from "./loaded.ts";

/** @internal */
export type { EraMemory } from "./connection.ts";
/** @internal */
export type { McpSource } from "./mcp-source.ts";
export { mcpTools, type McpToolsOptions } from "./mcp-tools.ts";
/** @internal */
export type { McpOAuth, OAuthClientOptions } from "./oauth/index.ts";
export { type HttpServer, type McpServerConfig, parseServer, type StdioServer } from "./server-config.ts";

/** @internal */
export const loadMcp = (): Promise<typeof Loaded> => import("./loaded.ts");
