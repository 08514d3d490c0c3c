/**
 * Loads the driver, an optional peer dependency: programs without a PostgreSQL store neither install nor load it. Keeps
 * no state on the server's side of a connection (no `SET`, no session lock, no temporary table), so that a pooler in
 * transaction mode may stand in between.
 */

import type { Client } from "pg";

import { codedError } from "../../base/support/index.ts";
import type { StoreAddress } from "./store-url.ts";

/** The types of the driver lack the two methods that decide whether a connection keeps the process alive. */
export type PgClient = Client & { ref(): void; unref(): void };

type ClientClass = new (config: object) => PgClient;

let loaded: Promise<ClientClass> | undefined;

export function clientClass(): Promise<ClientClass> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<ClientClass> {
  try {
    const { default: pg } = await import("pg");
    return pg.Client as unknown as ClientClass;
  } catch (error) {
    loaded = undefined;
    throw codedError(
      "store_driver_missing",
      "a PostgreSQL store needs the package pg, which is not installed. Install it next to throughline: npm install pg",
      error,
    );
  }
}

/** What the driver needs to connect, without a time-out for statements: lanes have their own. */
export function clientConfig(address: StoreAddress, connectMs: number): object {
  const { host, port, user, password, database, ssl } = address;
  return {
    host,
    port,
    user,
    password,
    database,
    ssl,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    application_name: "throughline",
  };
}
