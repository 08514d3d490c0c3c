/** Logins at MCP servers (OAuth): where the tokens are kept, how a person logs in, and how a token is renewed. */

export type { OAuthClientOptions } from "./authorization-server.ts";
export type { LoginOptions } from "./authorize.ts";
export { type LogoutResult, McpOAuth, type McpOAuthOptions } from "./mcp-oauth.ts";
export { TokenFile } from "./token-file.ts";
