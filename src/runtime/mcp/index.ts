/** Tools of MCP servers: how a server is reached, its connection, its tools, and their calls. */

export {
  type HttpServer,
  isHttp,
  type McpServerConfig,
  type ParsedServer,
  parseServer,
  type StdioServer,
} from "./server-config.ts";
