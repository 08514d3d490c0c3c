/**
 * The entries of `mcpServers`, as a file has them. Nothing here judges an entry: one that cannot be used must not spoil
 * the file that it is in. A name that a file has twice is found in its text, because JSON.parse keeps only the last.
 */

import {
  closestTo,
  codedError,
  isObject,
  sliceMember,
  sliceObject,
  tryParseJson,
} from "../../base/support/index.ts";
import { readJsonFile, withoutMark } from "./json-file.ts";
import { kind, type Kind } from "./value-kinds.ts";

const KEY = "mcpServers";
/** Where some editors have their servers. */
const OTHER_KEY = "servers";
const TEXTS = { type: "object", additionalProperties: { type: "string" } };
const WHY = "use an object: the name of each server, and how it is reached";

export const MCP_SERVERS: Kind<Readonly<Record<string, unknown>>> = {
  ...kind(
    {
      type: "object",
      additionalProperties: {
        type: "object",
        properties: {
          type: { enum: ["stdio", "http", "streamable-http"] },
          command: { type: "string", description: "one executable; no shell is involved" },
          args: { type: "array", items: { type: "string" } },
          env: TEXTS,
          cwd: { type: "string" },
          url: { type: "string", description: "https, or http on this machine" },
          headers: TEXTS,
          oauth: { ...TEXTS, description: "for a login: clientId, clientSecret, clientMetadataUrl, issuer" },
          enabled: { type: "boolean", default: true },
          timeoutMs: { type: "integer", minimum: 1 },
          tools: { type: "array", items: { type: "string" }, description: "only these tools" },
          trust: {
            type: "boolean",
            default: false,
            description: "believe the server's hints; only your own files can set it",
          },
        },
      },
    },
    WHY,
    isRecord,
    (text) => tryParseJson(text) ?? text,
  ),
};

export interface NamedServer {
  readonly name: string;
  /** Anything that JSON can say. */
  readonly value: unknown;
}

export interface ServerList {
  /** The first of each name. */
  readonly servers: readonly NamedServer[];
  /** Names that occur again. */
  readonly repeated: readonly string[];
  /** Whether the file has the key `mcpServers` more than once; the last one counts. */
  readonly keyRepeated: boolean;
}

/** The servers of one file, and where its relative paths begin. */
export interface McpSource extends ServerList {
  readonly layer: "user" | "project" | "mcp.json" | "flag";
  readonly file: string;
  readonly folder: string;
}

export interface McpFile extends ServerList {
  readonly file: string;
  readonly sha256: string;
}

/** Returns undefined if the file does not exist. Other members of the file belong to other programs. */
export function readMcpFile(file: string): McpFile | undefined {
  const read = readJsonFile(file);
  if (read === undefined) return undefined;
  const { sha256, text, object } = read;
  if (Object.hasOwn(object, KEY) && !isRecord(object[KEY]))
    throw codedError("config_value_invalid", `${file}: ${KEY}: ${WHY}`);
  return { file, sha256, ...serversIn(text) };
}

/** The same for a file that is there to be used: one that has its servers under another key is an error. */
export function readServers(file: string): McpFile | undefined {
  const read = readMcpFile(file);
  const object = read === undefined ? {} : (readJsonFile(file)?.object ?? {});
  const meant = Object.keys(object).find(
    (name) => name === OTHER_KEY || closestTo(name, [KEY]) !== undefined,
  );
  if (read !== undefined && !Object.hasOwn(object, KEY) && meant !== undefined)
    throw codedError("config_key_unknown", `${file}: ${JSON.stringify(meant)} is not known; use "${KEY}"`);
  return read;
}

/** `text` is the text of a file that was read: valid JSON, or empty. */
export function serversIn(text: string): ServerList {
  const json = withoutMark(text);
  const all = sliceObject(sliceMember(json, KEY) ?? "");
  const servers = new Map<string, NamedServer>();
  const repeated = new Set<string>();
  for (const { key: name, value } of all) {
    if (servers.has(name)) repeated.add(name);
    else servers.set(name, { name, value: tryParseJson(value) });
  }
  const keyRepeated = sliceObject(json).filter(({ key }) => key === KEY).length > 1;
  return { servers: [...servers.values()], repeated: [...repeated], keyRepeated };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}
