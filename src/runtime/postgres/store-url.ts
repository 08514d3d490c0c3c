/**
 * The address of a PostgreSQL store. Nothing of it is ever shown: an error says what is wrong in words, because a URL
 * may hold a password, and messages end up in logs and on screens.
 */

import { readFileSync } from "node:fs";

import { codedError, didYouMean, messageOf } from "../../base/support/index.ts";

/** How statements are prepared. `auto` prepares them by name until a pooler refuses that. */
export type PrepareMode = "auto" | "always" | "never";

export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly ssl: false | TlsSettings;
  /** Where the tables are. Written out in every statement: a `search_path` would be state of the connection. */
  readonly schema: string;
  readonly prepare: PrepareMode;
  /** What must never appear in a log or on a screen. */
  readonly secrets: readonly string[];
}

export interface TlsSettings {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Replaces the check of the host's name, for modes that do not check it. */
  readonly checkServerIdentity?: (() => undefined) | undefined;
}

const PARAMETERS = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "schema", "prepare"] as const;
const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
const PREPARE_MODES = ["auto", "always", "never"] as const;
const SCHEMA = /^[a-z_][a-z0-9_]{0,50}$/;
const DEFAULT_PORT = 5432;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

/** `password` wins over the one in the URL. Without either, `PGPASSWORD` is used, as by other programs. */
export function parseStoreUrl(text: string, password?: string): StoreAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A folder of the server's Unix socket cannot be the host of a URL: postgres:///DATABASE?host=/run/postgresql
  const host = url?.searchParams.get("host") ?? decoded(url?.hostname ?? "");
  if (url === undefined || !isPostgresUrl(text) || host === "")
    throw invalid("it must have the form postgres://USER@HOST:PORT/DATABASE");
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.some((known) => known === name))
      throw invalid(`unknown parameter "${name.slice(0, 40)}"${didYouMean(name, [...PARAMETERS])}`);
  const given = password ?? (url.password === "" ? process.env["PGPASSWORD"] : decoded(url.password));
  const schema = url.searchParams.get("schema") ?? "throughline";
  if (!SCHEMA.test(schema))
    throw invalid("the schema must have 1 to 51 lower-case letters, digits or underscores");
  return {
    // A URL writes an IPv6 address in brackets; a socket needs it without.
    host: host.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    user: url.username === "" ? undefined : decoded(url.username),
    password: given,
    database: url.pathname.length > 1 ? decoded(url.pathname.slice(1)) : undefined,
    ssl: tlsOf(url.searchParams),
    schema,
    prepare: choice(url.searchParams, "prepare", PREPARE_MODES, "auto"),
    secrets: [text, given ?? "", url.password].filter((secret) => secret.length >= 4),
  };
}

function tlsOf(parameters: URLSearchParams): StoreAddress["ssl"] {
  const mode = choice(parameters, "sslmode", SSL_MODES, "disable");
  if (mode === "disable") return false;
  const files = {
    ca: pem(parameters, "sslrootcert"),
    cert: pem(parameters, "sslcert"),
    key: pem(parameters, "sslkey"),
  };
  if (mode === "require") return { ...files, rejectUnauthorized: false };
  const anyName = mode === "verify-ca" ? { checkServerIdentity: () => undefined } : {};
  return { ...files, rejectUnauthorized: true, ...anyName };
}

function pem(parameters: URLSearchParams, name: string): string | undefined {
  const path = parameters.get(name);
  if (path === null) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(`${name} names a file that cannot be read: ${messageOf(error)}`);
  }
}

function choice<T extends string>(
  parameters: URLSearchParams,
  name: string,
  known: readonly T[],
  usual: T,
): T {
  const given = parameters.get(name);
  if (given === null) return usual;
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw invalid(`${name} must be ${known.join(", ")}${didYouMean(given, [...known])}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("a percent sign in it does not begin an escape; write % as %25");
  }
}

function invalid(why: string): Error {
  return codedError("store_url_invalid", `the address of the PostgreSQL store cannot be used: ${why}`);
}
