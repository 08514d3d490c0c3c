/** What an operator's functions refuse at the last moment: a session that changed after it was looked at. */

import pg from "pg";
import { expect, inject, test } from "vitest";

import { pruneStore, removeUnchanged, verifyStore } from "../../src/runtime/postgres/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Database, database } from "./fixture.ts";
import { codeOf, engine, notice, openToWrite } from "./nodes.ts";

const YEAR_MS = 365 * 86_400_000;

/** A session with three events, last changed two years ago. */
async function oldSession(db: Database): Promise<ReturnType<Database["store"]>> {
  const store = db.store();
  const log = await openToWrite(store);
  await log.append([notice("a"), notice("b"), notice("c")]);
  await log.close();
  await db.sql("update s.sessions set modified_at = modified_at - interval '2 years'");
  return store;
}

/** Another connection, in the middle of a transaction. */
async function transaction(): Promise<pg.Client> {
  const client = new pg.Client(inject("postgresUrl"));
  await client.connect();
  afterTest(() => client.end());
  await client.query("begin");
  return client;
}

/** Resolves when a statement on this schema's sessions waits for a row that somebody else holds. */
async function someoneWaits({ sql, schema }: Database): Promise<void> {
  for (;;) {
    const rows = await sql(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1`,
      [`%"${schema}".sessions%`],
    );
    if (rows.length > 0) return;
  }
}

test("prune keeps a session to which something was asked while it waited for the row", async () => {
  const db = await database();
  const store = await oldSession(db);
  const client = await transaction();
  await client.query(`update "${db.schema}".sessions set asked = asked + 1, wake_at = clock_timestamp()`);
  await client.query(
    `insert into "${db.schema}".inbox (tenant, session, key, kind, body, n) values ('', 's1', 'turn-1', 'send', '{}', 1)`,
  );
  const pruning = pruneStore(engine(store), { olderThanMs: YEAR_MS });
  await someoneWaits(db);
  await client.query("commit");
  expect(await pruning).toEqual({ sessions: 0, bytes: 0 });
  expect(await db.sql("select id from s.sessions")).toHaveLength(1);
  expect(await db.sql("select key from s.inbox")).toHaveLength(1);
  expect(await db.sql("select seq from s.events")).toHaveLength(3);
});

test("prune keeps a session that a node acquired while it waited for the row", async () => {
  const db = await database();
  const store = await oldSession(db);
  const client = await transaction();
  await client.query(`update "${db.schema}".sessions set fence = fence + 1, holder = gen_random_uuid()`);
  const pruning = pruneStore(engine(store), { olderThanMs: YEAR_MS });
  await someoneWaits(db);
  await client.query("commit");
  expect(await pruning).toEqual({ sessions: 0, bytes: 0 });
  expect(await db.sql("select seq from s.events")).toHaveLength(3);
});

test("prune stops between two sessions when it is told to", async () => {
  const db = await database();
  const store = db.store();
  await db.sql(
    `insert into s.sessions (tenant, id, made, modified_at)
     select '', 's' || n, true, clock_timestamp() - interval '2 years' from generate_series(1, 150) as n`,
  );
  const stop = new AbortController();
  const pruned = await pruneStore(engine(store), {
    olderThanMs: YEAR_MS,
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  expect(pruned.sessions).toBe(100);
  expect(await db.sql("select id from s.sessions")).toHaveLength(50);
});

test("removeUnchanged removes only a session with as many events as expected, and nothing to do", async () => {
  const db = await database();
  const store = await oldSession(db);
  const remove = (events: number) => codeOf(removeUnchanged(engine(store), "", "s1", events));
  expect(await remove(2)).toBe("session_locked");
  const held = await openToWrite(store);
  expect(await remove(3)).toBe("session_locked");
  await held.close();
  await store.shared?.admitTurn("s1", "turn-1", { input: "x" });
  expect(await remove(3)).toBe("session_locked");
  const settling = await openToWrite(store);
  await store.waiting("s1").remove("turn-1");
  await settling.close();
  expect(await db.sql("select seq from s.events")).toHaveLength(3);
  expect(await remove(3)).toEqual({ value: undefined });
  expect(await db.sql("select 1 from s.events union all select 1 from s.sessions")).toEqual([]);
  expect(await remove(3)).toBe("session_not_found");
});

test("verify reads a session of many megabytes in pages, while it grows", async () => {
  const db = await database();
  const store = db.store();
  const log = await openToWrite(store);
  const large = "x".repeat(3 * 1024 * 1024);
  for (let n = 0; n < 5; n += 1) await log.append([notice(`${n}${large}`)]);
  let pages = 0;
  const { connections } = engine(store);
  const read = connections.read.bind(connections);
  connections.read = async (statement, values) => {
    const rows = await read(statement, values);
    const bytes = rows.reduce((sum, { line }) => sum + (typeof line === "string" ? line.length : 0), 0);
    expect(bytes).toBeLessThan(8 * 1024 * 1024);
    if (bytes > 0) pages += 1;
    if (pages === 1 && bytes > 0) await log.append([notice("one more")]);
    return rows;
  };
  const checking = verifyStore(engine(store));
  const result = await checking.next();
  expect(result).toMatchObject({ done: true, value: { sessions: 1, events: 6, damaged: 0 } });
  expect(pages).toBeGreaterThan(2);
});
