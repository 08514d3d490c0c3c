/**
 * Where the sessions of a command are: in the PostgreSQL database that `--store`, THROUGHLINE_STORE or the user's own
 * settings name, else in files. The only place that chooses a store. The code for PostgreSQL is loaded only if it is
 * needed.
 *
 * No message repeats anything of an address, and a password is not accepted where other users could read it.
 */

import { readText } from "../../base/files/index.ts";
import { codedError, readProblem } from "../../base/support/index.ts";
import { fileStore, type Store } from "../../runtime/log/index.ts";
import type { PostgresStoreOptions } from "../../runtime/postgres/index.ts";
import { ownSetting, sessionsFolder } from "../config/index.ts";
import { atEnd } from "./at-end.ts";
import { wholeNumber } from "./flag-numbers.ts";
import { assertPostgresUrl, type StoreFlags } from "./store-flag.ts";

export type { StoreFlags } from "./store-flag.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A database, with what is needed to open it. */
export interface Database {
  readonly url: string;
  readonly options: Pick<PostgresStoreOptions, "password" | "directUrl" | "leaseMs">;
}

/** How a server differs from a command: it is a node that other nodes rely on. */
export type NodeFlags = Pick<PostgresStoreOptions, "pool" | "name" | "leaseMs">;

/** The database of a command, or undefined for files. */
export function chosenDatabase(flags: StoreFlags, env: Environment = process.env): Database | undefined {
  const { store: flag } = flags;
  if (flag !== undefined) assertNoPassword("--store", flag);
  const url = flag ?? ownSetting("store", env);
  if (url === undefined) return undefined;
  assertPostgresUrl(url, flag === undefined ? "THROUGHLINE_STORE or the setting store" : "--store");
  const direct = valueOf(env["THROUGHLINE_STORE_DIRECT"]);
  if (direct !== undefined) assertPostgresUrl(direct, "THROUGHLINE_STORE_DIRECT");
  const password = passwordIn("THROUGHLINE_STORE_PASSWORD_FILE", env["THROUGHLINE_STORE_PASSWORD_FILE"]);
  const lease = valueOf(env["THROUGHLINE_LEASE_MS"]);
  return {
    url,
    options: {
      password,
      directUrl: direct,
      leaseMs: lease === undefined ? undefined : leaseFrom("THROUGHLINE_LEASE_MS", lease),
    },
  };
}

/** The database of the other side of `sessions copy`. `here` is undefined if this side is files. */
export function otherDatabase(
  flag: "--to" | "--from",
  url: string,
  here: Database | undefined,
  env: Environment = process.env,
): Database {
  assertNoPassword(flag, url);
  assertPostgresUrl(url, flag);
  // The password of this side's database must not be sent to another server.
  const variable =
    valueOf(env["THROUGHLINE_STORE_TO_PASSWORD_FILE"]) !== undefined || here !== undefined
      ? "THROUGHLINE_STORE_TO_PASSWORD_FILE"
      : "THROUGHLINE_STORE_PASSWORD_FILE";
  const password = passwordIn(variable, env[variable]);
  if (password === undefined && here !== undefined && valueOf(env["PGPASSWORD"]) !== undefined)
    throw codedError(
      "store_url_invalid",
      `${flag}: PGPASSWORD is for the database in use and is not sent to another one: put the password of the other one into a file and name the file in THROUGHLINE_STORE_TO_PASSWORD_FILE`,
    );
  return { url, options: { password } };
}

const opened = new Map<string, Store>();

/** Opens the sessions of a command. A database is opened once for the whole command and closed at its end. */
export async function openStore(flags: StoreFlags, node: NodeFlags = {}): Promise<Store> {
  const database = chosenDatabase(flags);
  return database === undefined ? fileStore(sessionsFolder()) : openDatabase(database, node);
}

export async function openDatabase({ url, options }: Database, node: NodeFlags = {}): Promise<Store> {
  const given = { ...options, ...withoutUndefined(node) };
  const key = JSON.stringify([url, given]);
  const known = opened.get(key);
  if (known !== undefined) return known;
  const { postgresStore } = await import("../../runtime/postgres/index.ts");
  const store = postgresStore(url, withoutUndefined(given));
  opened.set(key, store);
  atEnd(async () => {
    opened.delete(key);
    await store.close();
  });
  return store;
}

/** The database of a command that works on nothing else. */
export function requiredDatabase(flags: StoreFlags): Database {
  const database = chosenDatabase(flags);
  if (database !== undefined) return database;
  throw codedError(
    "usage",
    "the sessions are in files, and this command is for a PostgreSQL store: name one with --store, or set THROUGHLINE_STORE",
  );
}

/** What must not appear in a session, a trace or on a screen. Never fails: a bad value is reported where it is used. */
export function storeSecrets(flags: StoreFlags, env: Environment = process.env): readonly string[] {
  const urls = [flags.store, settingOf(env), env["THROUGHLINE_STORE_DIRECT"]];
  const passwords = [
    env["PGPASSWORD"],
    fileOf(env["THROUGHLINE_STORE_PASSWORD_FILE"]),
    fileOf(env["THROUGHLINE_STORE_TO_PASSWORD_FILE"]),
  ];
  const all = [...urls, ...urls.flatMap((url) => passwordsOf(url ?? "")), ...passwords];
  return [...new Set(all.filter((one): one is string => one !== undefined && one !== ""))];
}

const LEASE = { least: 300, most: 3_600_000, use: "a whole number of milliseconds from 300 to 3600000" };

export function leaseFrom(name: string, text: string): number {
  return wholeNumber(name, text, LEASE);
}

function assertNoPassword(flag: string, url: string): void {
  if (passwordsOf(url).length === 0) return;
  const instead =
    flag === "--store"
      ? "THROUGHLINE_STORE_PASSWORD_FILE, set PGPASSWORD, or put the whole address into THROUGHLINE_STORE"
      : "THROUGHLINE_STORE_TO_PASSWORD_FILE";
  throw codedError(
    "store_url_invalid",
    `${flag} holds a password, and other users of this machine can read command lines: put the password into a file and name the file in ${instead}`,
  );
}

/** As it is written, and decoded. Finds one in a text that is no URL, too: a password may hold any character. */
function passwordsOf(url: string): readonly string[] {
  // A user name may hold an @ too: what counts is the last one before the host, as in `new URL`.
  const written = /^[a-z][a-z\d+.-]*:\/*[^/?#:]*:([^/?#]*)@/i.exec(url)?.[1] ?? "";
  if (written === "") return [];
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written];
  }
}

function passwordIn(variable: string, path: string | undefined): string | undefined {
  if (valueOf(path) === undefined) return undefined;
  try {
    const password = readText(path ?? "").replace(/\r?\n$/, "");
    if (password !== "") return password;
  } catch (error) {
    throw codedError(
      "file_unreadable",
      `${variable}: the file of the store's password cannot be read: ${readProblem(error)}`,
    );
  }
  throw codedError("file_unreadable", `${variable}: the file of the store's password is empty`);
}

function fileOf(path: string | undefined): string | undefined {
  try {
    return passwordIn("", path);
  } catch {
    return undefined;
  }
}

function settingOf(env: Environment): string | undefined {
  try {
    return ownSetting("store", env);
  } catch {
    return undefined;
  }
}

/** An empty variable counts as unset. */
function valueOf(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
