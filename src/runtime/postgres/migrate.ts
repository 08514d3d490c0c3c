/**
 * Makes and changes the tables of a store. Nothing else does: a running server only checks that they fit. Each step is
 * one transaction, and several migrations at once wait for each other by a lock of the transaction.
 */

import { codedError, systemClock } from "../../base/support/index.ts";
import type { Lane, Row } from "./lane.ts";
import { sqlState, storeError } from "./problems.ts";
import { SCHEMA_VERSION, type SchemaOptions, STEPS, storageStatements } from "./schema.ts";

export interface Migration {
  /** The version before; 0 if there were no tables. */
  readonly from: number;
  readonly to: number;
  /** The statements that were run, or would be. */
  readonly statements: readonly string[];
}

export interface MigrateOptions extends SchemaOptions {
  readonly dryRun?: boolean | undefined;
}

/** Any number that no other program's migrations use. */
const LOCK = 7_402_311_909_431;
const TRIES = 10;
const WAIT_MS = 500;
/** A step may build an index over many rows. */
const STEP_MS = 10 * 60_000;

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export async function migrate(lane: Lane, schema: string, options: MigrateOptions = {}): Promise<Migration> {
  await assertUtf8(lane);
  const from = await versionOf(lane, schema);
  if (from > SCHEMA_VERSION) throw tooNew(from);
  const statements: string[] = [];
  for (let version = from; version < SCHEMA_VERSION; version += 1) {
    if (options.dryRun === true) statements.push(...stepsOf(schema, version, options, await takesLz4(lane)));
    else statements.push(...(await patiently(() => stepTo(lane, schema, version + 1, options))));
  }
  return { from, to: SCHEMA_VERSION, statements };
}

/** The version of the tables, or 0 if there are none. */
async function versionOf(lane: Lane, schema: string): Promise<number> {
  try {
    const [row] = await lane.query({ text: `select version from ${quoted(schema)}.store` }, []);
    return Number(row?.["version"] ?? 0);
  } catch (error) {
    if (["42P01", "3F000"].includes(sqlState(error) ?? "")) return 0;
    throw storeError(error);
  }
}

export async function assertUtf8(lane: Lane): Promise<void> {
  const [row] = await lane
    .query({ text: "select current_setting('server_encoding') as encoding" }, [])
    .catch((error: unknown) => {
      throw storeError(error);
    });
  if (row?.["encoding"] === "UTF8") return;
  throw codedError(
    "store_encoding",
    `the database has the encoding ${String(row?.["encoding"])}, which cannot keep every text. Create one with: createdb --encoding=UTF8 --template=template0 NAME`,
  );
}

export function tooNew(version: number): Error {
  return codedError(
    "store_too_new",
    `the store has version ${version}, but this program knows only up to ${SCHEMA_VERSION}. Nothing was changed. Update throughline`,
  );
}

export function tooOld(version: number): Error {
  const now = version === 0 ? "has no tables yet" : `has version ${version}`;
  return codedError(
    "store_too_old",
    `the store ${now}, and this program needs version ${SCHEMA_VERSION}. Run: throughline migrate`,
  );
}

/** A name that was checked when the address was parsed. */
export function quoted(schema: string): string {
  return `"${schema}"`;
}

function stepsOf(schema: string, from: number, options: SchemaOptions, hasLz4: boolean): readonly string[] {
  const s = quoted(schema);
  const own = STEPS[from]?.(s, options) ?? [];
  if (from > 0) return [...own, `update ${s}.store set version = ${from + 1}, changed_at = now()`];
  return [
    `create schema if not exists ${s}`,
    ...own,
    ...storageStatements(s, hasLz4, options.partitions ?? 0),
    `insert into ${s}.store (version, oldest_reader, oldest_writer, incarnation) values (1, 1, 1, gen_random_uuid())`,
  ];
}

async function stepTo(
  lane: Lane,
  schema: string,
  version: number,
  options: SchemaOptions,
): Promise<readonly string[]> {
  const hasLz4 = await takesLz4(lane);
  const s = quoted(schema);
  return lane.transaction(async (run) => {
    // `set local` and a lock of the transaction: both are gone with it, whoever uses the connection next.
    await run("set local lock_timeout = '3s'");
    await run(`select pg_advisory_xact_lock(${LOCK})`);
    if ((await versionInside(run, schema)) >= version) return []; // another migration was faster
    const statements = stepsOf(schema, version - 1, options, hasLz4);
    const [found] = await run("select to_regnamespace($1) is not null as there", [s]);
    for (const statement of statements) {
      // "if not exists" needs the right to create schemas even if there is one.
      if (found?.["there"] !== true || !statement.startsWith("create schema")) await run(statement);
    }
    return statements;
  }, STEP_MS);
}

async function versionInside(run: Run, schema: string): Promise<number> {
  const [there] = await run("select to_regclass($1) is not null as there", [`${quoted(schema)}.store`]);
  if (there?.["there"] !== true) return 0;
  const [row] = await run(`select version from ${quoted(schema)}.store`);
  return Number(row?.["version"] ?? 0);
}

/** Asked, never assumed: a server may be built without it. */
async function takesLz4(lane: Lane): Promise<boolean> {
  const [row] = await lane.query(
    { text: "select 'lz4' = any(enumvals) as has from pg_settings where name = 'default_toast_compression'" },
    [],
  );
  return row?.["has"] === true;
}

/** A table may be in use for a moment. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) !== "55P03" || tries >= TRIES) throw storeError(error);
      await systemClock.sleep(WAIT_MS);
    }
  }
}
