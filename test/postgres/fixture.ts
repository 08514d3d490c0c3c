/** A store with its own schema on the server of this run, and a plain connection to look at its tables. */

import pg from "pg";
import { inject } from "vitest";

import type { Store } from "../../src/runtime/log/index.ts";
import {
  createEngine,
  type Engine,
  migrateStore,
  postgresStore,
  type PostgresStoreOptions,
} from "../../src/runtime/postgres/index.ts";
import { afterTest } from "../support/clean-up.ts";

let schemas = 0;

export interface Database {
  readonly url: string;
  readonly schema: string;
  /** Another store on the same tables: another node. */
  readonly store: (options?: PostgresStoreOptions) => Store;
  readonly engine: (options?: PostgresStoreOptions) => Engine;
  /** Runs SQL beside the store. `s` in the text stands for the schema. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
  readonly dispose: () => Promise<void>;
}

/** Removed after the test. */
export async function database(): Promise<Database> {
  const made = await makeDatabase();
  afterTest(() => made.dispose());
  return made;
}

export async function makeDatabase(): Promise<Database> {
  schemas += 1;
  const schema = `t_${process.pid}_${schemas}`;
  const url = `${inject("postgresUrl")}?schema=${schema}`;
  const client = new pg.Client(inject("postgresUrl"));
  await client.connect();
  await migrateStore(url);
  const stores: Store[] = [];
  const engines: Engine[] = [];
  return {
    url,
    schema,
    store: (options = {}) => {
      const store = postgresStore(url, options);
      stores.push(store);
      return store;
    },
    engine: (options = {}) => {
      const engine = createEngine(url, options);
      engines.push(engine);
      return engine;
    },
    sql: async (text, values = []) =>
      (await client.query({ text: text.replaceAll(/\bs\./g, `"${schema}".`), values: [...values] }))
        .rows as Record<string, unknown>[],
    async dispose() {
      for (const one of [...stores, ...engines]) await one.close();
      await client.query(`drop schema "${schema}" cascade`);
      await client.end();
    },
  };
}
