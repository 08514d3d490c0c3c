/** Locks that others hold for long, and connections that are lost where it matters. */

import pg from "pg";
import { expect, inject, test } from "vitest";

import type { Log } from "../../src/runtime/log/index.ts";
import { quoted } from "../../src/runtime/postgres/migrate.ts";
import { afterTest } from "../support/clean-up.ts";
import type { Database } from "./fixture.ts";
import { codeOf, engine, messagesIn, messagesOf, notice, openToWrite, proxiedDatabase } from "./nodes.ts";

/** A person who has changed a session's row and not committed. */
async function holdsRow(db: Database, id: string): Promise<{ readonly letGo: () => Promise<unknown> }> {
  const person = new pg.Client(inject("postgresUrl"));
  await person.connect();
  afterTest(() => person.end());
  await person.query("begin");
  await person.query(`update ${quoted(db.schema)}.sessions set modified_at = modified_at where id = $1`, [
    id,
  ]);
  return { letGo: () => person.query("rollback") };
}

/** How many statements on the tables of this test wait for a lock. */
async function waiting(db: Database): Promise<number> {
  const [row] = await db.sql(
    "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like $1",
    [`%${db.schema}%`],
  );
  return Number(row?.["n"]);
}

test("a row that somebody holds stops its own session, and no other of the same node", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ leaseMs: 3000 });
  const logs: Log[] = [];
  for (let n = 0; n < 6; n += 1) {
    const log = await openToWrite(store, `s${n}`);
    await log.append([notice("first")]);
    logs.push(log);
  }
  const { letGo } = await holdsRow(db, "s3");
  // Both connections for appends are busy meanwhile, so all go into one statement.
  const busy = [await openToWrite(store, "x"), await openToWrite(store, "y")];
  const holds = busy.map(() => db.proxy.hold("_append"));
  const first = busy.map((log) => log.append([notice("busy")]));
  for (const { reached } of holds) await reached;
  const appends = logs.map((log) => log.append([notice("second")]));
  for (const hold of holds) hold.release();
  await Promise.all([...first, ...appends.filter((_, n) => n !== 3)]);
  let isStopped = true;
  void appends[3]?.then(() => (isStopped = false));
  // Again and again, while the row is still held.
  for (let round = 0; round < 3; round += 1)
    await Promise.all(logs.filter((_, n) => n !== 3).map((log) => log.append([notice("third")])));
  expect(isStopped).toBe(true);
  await letGo();
  await appends[3];
  for (const [n, log] of logs.entries()) {
    expect(log.lost.aborted).toBe(false);
    expect(await messagesIn(db, `s${n}`)).toEqual(messagesOf(log.events));
  }
  expect(messagesOf(logs[3]?.events ?? [])).toEqual(["first", "second"]);
});

test("statements that were given up do not pile up on the server", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ leaseMs: 900 });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const { letGo } = await holdsRow(db, "s1");
  const { counters } = engine(store).appender;
  const append = log.append([notice("b")]);
  await expect.poll(() => counters.repeated).toBeGreaterThanOrEqual(4);
  await expect.poll(() => waiting(db)).toBeLessThanOrEqual(1);
  await letGo();
  await append;
  expect(await messagesIn(db)).toEqual(["a", "b"]);
});

test("a transaction whose connection is lost between two statements does not go on without its beginning", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied();
  await openToWrite(store);
  const { large } = engine(store).connections;
  const insert = `insert into ${quoted(db.schema)}.events (tenant, session, seq, line) values ('', 'x', $1, 'x')`;
  const work = large.transaction(async (run) => {
    await run(insert, [0]);
    db.proxy.cut();
    await expect.poll(() => large.connected).toBe(false);
    await run(insert, [1]);
  });
  expect(await codeOf(work)).toBe("store_unreachable");
  expect(await db.sql("select seq from s.events")).toEqual([]);
  await large.transaction((run) => run(insert, [2])); // the next one begins anew
  expect(await db.sql("select seq::int as seq from s.events")).toEqual([{ seq: 2 }]);
});
