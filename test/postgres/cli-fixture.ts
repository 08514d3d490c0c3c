/** The bundled command line with the driver next to it, as a user of a PostgreSQL store installs it. */

import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect } from "vitest";

import { codeOf } from "../../src/base/support/index.ts";
import { newPlace, type Place, type Ran, run, type StartOptions } from "../cli/harness.ts";
import { PACKAGE } from "../support/built.ts";
import { type Database, database } from "./fixture.ts";

linkDriver();

/** The bundle does not hold `pg`: it is an optional peer dependency. */
export function linkDriver(): void {
  const folder = join(PACKAGE, "node_modules");
  mkdirSync(folder, { recursive: true });
  try {
    symlinkSync(resolve(import.meta.dirname, "../../node_modules/pg"), join(folder, "pg"), "dir");
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error; // another file of these tests was faster
  }
}

export interface StorePlace {
  readonly place: Place;
  readonly db: Database;
  /** Runs a command whose sessions are in the database. */
  readonly on: (args: readonly string[], options?: StartOptions) => Promise<Ran>;
  readonly env: Readonly<Record<string, string>>;
}

/** A home and a database of the test's own. */
export async function storePlace(): Promise<StorePlace> {
  const place = newPlace();
  const db = await database();
  const env = { THROUGHLINE_STORE: db.url };
  return {
    place,
    db,
    env,
    on: (args, options = {}) => run(place, args, { ...options, env: { ...env, ...options.env } }),
  };
}

/** Runs a command that must succeed, and returns its output. */
export async function good(running: Promise<Ran>): Promise<Ran> {
  const ran = await running;
  expect(ran, `${ran.out}\n${ran.err}`).toMatchObject({ code: 0 });
  return ran;
}

/** The only session of a database. */
export async function onlySession(db: Database): Promise<string> {
  const rows = await db.sql("select id from s.sessions where made");
  expect(rows).toHaveLength(1);
  return String(rows[0]?.["id"]);
}
