/** Tools of MCP servers: how a server is reached, its connection, its tools, and their calls. */

export type { ConnectionHost, EraMemory } from "./connection.ts";
export { McpSource, mcpSource, type McpSourceParts } from "./mcp-source.ts";
export { mcpTools, type McpToolsOptions } from "./mcp-tools.ts";
export {
  type LoginOptions,
  type LogoutResult,
  McpOAuth,
  type McpOAuthOptions,
  type OAuthClientOptions,
  TokenFile,
} from "./oauth/index.ts";
export {
  type HttpServer,
  isHttp,
  type McpServerConfig,
  type ParsedServer,
  parseServer,
  type StdioServer,
} from "./server-config.ts";
export { sanitized } from "./tool-names.ts";
