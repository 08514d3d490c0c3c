/** Makes or updates the tables of a store, and says what was done. */

import { codedError } from "../../base/support/index.ts";
import { amount } from "./amount.ts";
import type { Database } from "./open-store.ts";

export interface MigrateChoice {
  readonly dryRun?: boolean | undefined;
  readonly partitions?: number | undefined;
}

export async function migrated(database: Database, choice: MigrateChoice = {}): Promise<string> {
  const { migrateStore } = await import("../../runtime/postgres/index.ts");
  const { password } = database.options;
  const { from, to, statements } = await migrateStore(database.url, { password, ...choice });
  if (from > 0 && choice.partitions !== undefined)
    throw codedError(
      "usage",
      "--partitions: the store has its tables already, and partitions are chosen when they are made: omit it, or copy the sessions to a new schema (?schema=NAME)",
    );
  if (from === to) return `the store is up to date: version ${to}`;
  const what = from === 0 ? "the tables of the store" : `the store from version ${from}`;
  if (choice.dryRun === true) {
    const listed = statements.map((one) => `${one.replaceAll(/\s+/g, " ").trim()};`).join("\n");
    return `${listed}\nnothing was changed: ${amount(statements.length, "statement")} would bring ${what} to version ${to}`;
  }
  // Another migration may have been faster: then no statement was run here.
  return from === 0 ? `made ${what}: version ${to}` : `updated ${what} to version ${to}`;
}
