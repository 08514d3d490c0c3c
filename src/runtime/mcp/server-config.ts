/**
 * How an MCP server is reached: a program to start, or an address. The form is the one that other programs use for
 * `mcpServers`, so a field that is not known here is a warning, never an error. Pure.
 */

import { closestTo, didYouMean, isObject } from "../../base/support/index.ts";

interface AnyServer {
  /** If false, the server is neither connected to nor declared. Default: true. */
  readonly enabled?: boolean | undefined;
  /** How long connecting may take. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Only these tools of the server, by the names that it gives them. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /**
   * If true, the server's own hints count: a tool that it calls read-only has access `read`, and one that it calls
   * idempotent may run again after a crash. Default: false.
   */
  readonly trust?: boolean | undefined;
}

/** An MCP server that is started as a child process and spoken to over its standard input and output. */
export interface StdioServer extends AnyServer {
  readonly type?: "stdio" | undefined;
  /** One executable. No shell is involved. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables besides the few that every child process gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: the working directory. */
  readonly cwd?: string | undefined;
}

/** An MCP server at an address (Streamable HTTP). */
export interface HttpServer extends AnyServer {
  readonly type?: "http" | "streamable-http" | undefined;
  /** https, or http on this machine. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For a login at a server that knows this client already, or does not register clients by itself. */
  readonly oauth?: OAuthClient | undefined;
}

/** As what this program logs in. All of it is optional. */
export interface OAuthClient {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The address of a document that describes the client. */
  readonly clientMetadataUrl?: string | undefined;
  /** Only this authorization server, if the MCP server names several. */
  readonly issuer?: string | undefined;
}

/** How an MCP server is reached. */
export type McpServerConfig = StdioServer | HttpServer;

export interface ParsedServer {
  readonly server?: McpServerConfig;
  /** Why the entry cannot be used, and what to change. */
  readonly problem?: string;
  /** What is odd about an entry that is used all the same. */
  readonly warnings: readonly string[];
}

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === "string" && value !== "" ? undefined : "use a text");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "use true or false");
const texts: Check = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? undefined : "use an array of texts";
const map: Check = (value) =>
  isObject(value) && !Array.isArray(value) && Object.values(value).every((one) => typeof one === "string")
    ? undefined
    : "use an object of texts";
const limit: Check = (value) =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? undefined : "use milliseconds above 0";

const SHARED: Readonly<Record<string, Check>> = {
  type: text,
  enabled: flag,
  disabled: flag,
  timeoutMs: limit,
  tools: texts,
  trust: flag,
};
const STDIO: Readonly<Record<string, Check>> = { command: text, args: texts, env: map, cwd: text };
const OAUTH_FIELDS: readonly string[] = ["clientId", "clientSecret", "clientMetadataUrl", "issuer"];
const oauth: Check = (value) =>
  map(value) ??
  (Object.keys(Object(value)).every((name) => OAUTH_FIELDS.includes(name))
    ? undefined
    : `use ${OAUTH_FIELDS.join(", ")}`);
const HTTP: Readonly<Record<string, Check>> = { url: text, headers: map, oauth };
const FIELDS = Object.keys({ ...STDIO, ...HTTP, ...SHARED });

const MAX_NAME = 64;

/** Returns what is wrong with the name of a server, if anything is. */
function serverNameProblem(name: string): string | undefined {
  if (name.trim() === "") return "it has no name";
  if (name.length > MAX_NAME) return `its name is longer than ${MAX_NAME} characters`;
  return /^[\p{L}\p{M}\p{N} ._@/-]+$/u.test(name)
    ? undefined
    : "its name may contain letters, digits, spaces and . _ @ / - only";
}

/** Reads one entry of `mcpServers`. `value` may be anything that JSON can say. */
export function parseServer(name: string, value: unknown): ParsedServer {
  const named = serverNameProblem(name);
  if (named !== undefined) return refused(named);
  if (!isObject(value) || Array.isArray(value))
    return refused("use an object with command and args, or with url");
  const { type, command, url } = value;
  if (type === "sse" || type === "ws")
    return refused(
      `the transport ${JSON.stringify(type)} is not supported: try "type": "http", often with an address that ends in /mcp`,
    );
  const overHttp = type === undefined ? url !== undefined : type !== "stdio";
  if (type !== undefined && type !== "stdio" && type !== "http" && type !== "streamable-http")
    return refused('use "type": "stdio" or "http"');
  if (overHttp && command !== undefined) return refused("use either command or url, not both");
  if (overHttp ? url === undefined : command === undefined)
    return refused(
      `${overHttp ? "url is missing" : url === undefined ? "command or url is missing" : "command is missing"}${similarField(value, overHttp ? ["url"] : ["command", "url"])}`,
    );
  const checks = { ...SHARED, ...(overHttp ? HTTP : STDIO) };
  const fields: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [field, given] of Object.entries(value)) {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined;
    if (check === undefined) {
      warnings.push(
        `the field ${JSON.stringify(field.slice(0, 60))} is not known and is ignored${didYouMean(field, FIELDS)}`,
      );
      continue;
    }
    const use = check(given);
    if (use !== undefined) return refused(`${field}: ${use}`, warnings);
    fields[field] = given;
  }
  const address = overHttp ? urlProblem(String(url)) : undefined;
  if (address !== undefined) return refused(`url: ${address}`, warnings);
  const { disabled, ...rest } = fields;
  const enabled = disabled === true ? { enabled: false } : {};
  return { server: { ...rest, ...enabled } as unknown as McpServerConfig, warnings };
}

/** A field that was probably meant to be one of these. */
function similarField(entry: object, wanted: readonly string[]): string {
  const field = Object.keys(entry).find(
    (one) => !FIELDS.includes(one) && closestTo(one, wanted) !== undefined,
  );
  return field === undefined ? "" : `; ${JSON.stringify(field)} is not known${didYouMean(field, wanted)}`;
}

function refused(problem: string, warnings: readonly string[] = []): ParsedServer {
  return { problem, warnings };
}

/** A key in a header would go to anybody on the way if it were sent unencrypted. */
function urlProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return "use an address such as https://example.com/mcp";
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== "" || password !== "") return "use a header for the key, not the address";
  if (protocol === "https:") return undefined;
  if (protocol !== "http:") return "use an https address";
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
    ? undefined
    : "use https: http is accepted on this machine only";
}
