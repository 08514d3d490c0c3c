/**
 * A database that was restored, promoted or copied is a new incarnation of the store: every lease of before is void, and
 * a session that was written before may have lost its end.
 */

import { randomUUID } from "node:crypto";

import pg from "pg";
import { expect, test } from "vitest";

import { createAgent, emulator } from "../../src/index.ts";
import type { Store } from "../../src/runtime/log/index.ts";
import { migrateStore, postgresStore, storeStatus } from "../../src/runtime/postgres/index.ts";
import { startStandby } from "../chaos/standby.ts";
import { afterTest } from "../support/clean-up.ts";
import { startPgProxy } from "../support/pg-proxy.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { type Database, database } from "./fixture.ts";
import {
  begins,
  codeOf,
  ends,
  engine,
  errorOf,
  messagesIn,
  messagesOf,
  notice,
  openToRead,
  openToWrite,
  proxiedDatabase,
  rowOf,
} from "./nodes.ts";

const incarnationOf = async ({ sql }: Database): Promise<unknown> =>
  (await sql("select incarnation::text as incarnation from s.store"))[0]?.["incarnation"];

const restoredOf = async (store: Store, id = "s1"): Promise<boolean> => {
  const log = await store.open(id, { mode: "write" });
  await log.close();
  return log.restored;
};

/** What tells this server from another. */
const MARKS = ["system_id = 1", "timeline = timeline + 1"];

test.each(MARKS)(
  "a server with another mark (%s) is a new incarnation from the next renewal on",
  async (mark) => {
    const db = await database();
    const store = db.store({ name: "web-1" });
    const log = await openToWrite(store);
    await log.append([notice("before")]);
    const first = await incarnationOf(db);
    await engine(store).node.renew(); // nothing has changed
    expect([await incarnationOf(db), log.lost.aborted]).toEqual([first, false]);

    await db.sql(`update s.store set ${mark}`);
    expect(await errorOf(engine(store).node.renew())).toMatchObject({
      code: "session_fenced",
      message: expect.stringContaining("the database was restored or replaced"),
    });
    const second = await incarnationOf(db);
    expect(second).not.toBe(first);
    expect([log.lost.aborted, await codeOf(log.append([notice("late")]))]).toEqual([true, "session_fenced"]);

    // It stays so until somebody has written under the new incarnation.
    expect([await restoredOf(store), await restoredOf(db.store())]).toEqual([true, true]);
    const next = await openToWrite(store);
    expect([next.restored, messagesOf(next.events)]).toEqual([true, ["before"]]);
    await next.append([notice("after")]);
    await next.close();
    expect(await rowOf(db)).toMatchObject({ incarnation: second });
    expect([await restoredOf(store), await restoredOf(db.store())]).toEqual([false, false]);
    expect([await incarnationOf(db), await messagesIn(db)]).toEqual([second, ["before", "after"]]);
  },
);

test("a session that was made after the restore has lost nothing", async () => {
  const db = await database();
  const before = await openToWrite(db.store());
  await before.append([notice("before")]);
  await db.sql("update s.store set system_id = 1");
  const store = db.store();
  const log = await openToWrite(store, "s2");
  await log.append([notice("after")]);
  await log.close();
  await store.create("s3", { events: [notice("copied")], blobs: new Map() });
  expect([
    await restoredOf(store, "s2"),
    await restoredOf(store, "s3"),
    await restoredOf(store, "s1"),
  ]).toEqual([false, false, true]);
  expect((await openToRead(store)).restored).toBe(false); // nothing follows from it for a reader
});

test("every lease of before is void, also that of a node that has not noticed yet", async () => {
  const db = await database();
  const [unaware, aware] = [db.store({ name: "unaware" }), db.store({ name: "aware" })];
  const log = await openToWrite(unaware);
  await log.append([notice("a")]);
  await openToWrite(aware, "other");
  expect(await codeOf(aware.open("s1", { mode: "write" }))).toBe("session_locked");
  await db.sql("update s.store set system_id = 1");
  await codeOf(engine(aware).node.renew());
  const next = await openToWrite(aware);
  await next.append([notice("b")]);
  expect(await codeOf(log.append([notice("late")]))).toBe("session_fenced");
  expect(await codeOf(engine(unaware).node.renew())).toBe("session_fenced");
  expect(await messagesIn(db)).toEqual(["a", "b"]);
  // It begins again in the incarnation that is there, without making another.
  const made = await incarnationOf(db);
  const again = await openToWrite(unaware, "s2");
  await again.append([notice("new")]);
  await engine(unaware).node.renew();
  expect([
    await incarnationOf(db),
    again.lost.aborted,
    await restoredOf(aware, "s1").catch(() => "held"),
  ]).toEqual([made, false, "held"]);
});

test("of many nodes that notice at once, one makes the incarnation and all begin in it", async () => {
  const db = await database();
  const stores = Array.from({ length: 5 }, (_, n) => db.store({ name: `web-${n}` }));
  for (const [n, store] of stores.entries()) await (await openToWrite(store, `s${n}`)).append([notice("a")]);
  await db.sql("update s.store set timeline = 77");
  await Promise.all(stores.map((store) => codeOf(engine(store).node.renew())));
  const made = await incarnationOf(db);
  for (const [n, store] of stores.entries()) {
    const log = await openToWrite(store, `s${n}`);
    await log.append([notice("b")]);
    await engine(store).node.renew();
    expect([log.restored, log.lost.aborted, engine(store).identity.incarnation]).toEqual([true, false, made]);
  }
  expect([
    await incarnationOf(db),
    await db.sql(
      "select distinct incarnation::text as i from s.nodes where lease_until > now() and incarnation = $1",
      [made],
    ),
  ]).toEqual([made, [{ i: made }]]);
});

test("a node that begins after another has noticed knows the incarnation it begins in", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1" });
  await store.exists("s1"); // the store is checked, the node has not begun
  // Another node has noticed a restore: the marks fit again.
  const made = randomUUID();
  await db.sql("update s.store set incarnation = $1", [made]);
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  expect(await rowOf(db)).toMatchObject({ incarnation: made });
  await engine(store).node.renew();
  expect([log.lost.aborted, await incarnationOf(db)]).toEqual([false, made]);
  await log.close();
  expect(await restoredOf(db.store())).toBe(false);
});

test("a lost answer while the incarnation is made does not make a second one", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1" });
  await (await openToWrite(store)).append([notice("a")]);
  await db.sql("update s.store set system_id = 1");
  const lost = db.proxy.swallow("_reincarnate");
  await codeOf(engine(store).node.renew());
  expect(lost.count).toBe(1);
  const made = await incarnationOf(db);
  const log = await openToWrite(store);
  await log.append([notice("b")]);
  await engine(store).node.renew();
  expect([await incarnationOf(db), engine(store).identity.incarnation, log.lost.aborted]).toEqual([
    made,
    made,
    false,
  ]);
});

test("an acquisition that reaches a promoted database knows that the open turn may have lost its end", async () => {
  const db = await proxiedDatabase();
  const before = await openToWrite(db.store({ name: "web-1" }));
  await before.append([begins("turn")], { turn: "begin" });
  await before.handOver?.();
  const store = db.proxied({ name: "web-2" });
  await openToWrite(store, "other");
  const held = db.proxy.hold("_acquire"); // it has looked, and found nothing unusual
  const opening = openToWrite(store);
  await held.reached;
  await db.sql("update s.store set timeline = timeline + 1");
  held.release();
  expect((await opening).restored).toBe(true);
});

test("what is written while the turn stays open does not hide that the turn may have lost its end", async () => {
  const db = await database();
  const store = db.store();
  const log = await openToWrite(store);
  await log.append([begins("turn")], { turn: "begin" });
  await log.close();
  await db.sql("update s.store set system_id = 1");
  const renamed = await openToWrite(db.store());
  await renamed.append([{ type: "title", title: "Another" }]);
  await renamed.close();
  const again = await openToWrite(db.store());
  expect(again.restored).toBe(true);
  await again.append([ends("turn")], { turn: "end" });
  await again.close();
  expect(await restoredOf(db.store())).toBe(false);
});

test("a session of a restored database whose open turn cannot be closed is not kept locked", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.store());
  await log.append([begins("turn")], { turn: "begin" });
  await log.close();
  await db.sql("update s.store set system_id = 1");
  const store = db.proxied({ name: "web-1", leaseMs: 1500 });
  await openToWrite(store, "other");
  const agent = createAgent({ model: emulator() });
  const lost = db.proxy.swallow("_live_rows", { times: 100 });
  expect(await codeOf(agent.open({ id: "s1", store }))).toBe("store_unreachable");
  lost.stop();
  const session = await agent.open({ id: "s1", store });
  expect([session.interrupted, await codeOf(session.close())]).toEqual([false, { value: undefined }]);
});

test("a standby that was read before its promotion is known for another database after it", async () => {
  const primary = await startCluster({ settings: ["fsync = off"] });
  afterTest(() => primary.remove());
  const url = `${primary.url}?schema=promoted`;
  await migrateStore(url);
  const first = postgresStore(url, { name: "web-1" });
  afterTest(() => first.close());
  const log = await openToWrite(first);
  await log.append([begins("turn")], { turn: "begin" });
  await log.handOver?.();
  const standby = await startStandby(primary);
  afterTest(() => standby.remove());
  const store = postgresStore(url.replace(String(primary.port), String(standby.cluster.port)), {
    name: "web-2",
  });
  afterTest(() => store.close());
  expect((await openToRead(store)).events).toHaveLength(1);
  expect(await codeOf(store.open("s1", { mode: "write" }))).toBe("store_no_rights");
  expect(await storeStatus(engine(store))).toMatchObject({ noticesRestore: false, sessions: { count: 1 } });
  await primary.stop("immediate");
  await standby.promote();
  const next = await openToWrite(store);
  expect([next.restored, engine(store).identity.marksHidden]).toEqual([true, false]);
});

test("where the marks of the server are hidden, the store works, and knows that it would not notice", async () => {
  const db = await database();
  const other = `hidden_${process.pid}`;
  await db.sql(`create database ${other} template template0 encoding 'UTF8'`);
  const url = new URL(db.url);
  url.pathname = `/${other}`;
  const admin = new pg.Client(url.href.replace(/\?.*/, ""));
  await admin.connect();
  const role = `plain_${process.pid}`;
  await admin.query(`revoke execute on function pg_control_system() from public`);
  await admin.query(`create role ${role} login`);
  await migrateStore(url.href);
  const schema = url.searchParams.get("schema") ?? "";
  await admin.query(`grant usage on schema "${schema}" to ${role}`);
  await admin.query(`grant select, insert, update, delete on all tables in schema "${schema}" to ${role}`);
  url.username = role;
  const store = postgresStore(url.href);
  afterTest(async () => {
    await store.close();
    await admin.query(`drop owned by ${role}`);
    await admin.query(`drop role ${role}`);
    await admin.end();
    await db.sql(`drop database ${other} with (force)`);
  });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  await engine(store).node.renew();
  expect([engine(store).identity.marksHidden, log.lost.aborted]).toEqual([true, false]);
  // What `throughline store restored` does then.
  const { incarnation } = engine(store).identity;
  await engine(store).identity.restored(incarnation, undefined);
  await log.close();
  expect(await restoredOf(store)).toBe(true);
});

test("a standby that lags takes the place of its server, and nobody goes on as if nothing had happened", async () => {
  const primary = await startCluster({ settings: ["fsync = off"] });
  afterTest(() => primary.remove());
  const standby = await startStandby(primary);
  afterTest(() => standby.remove());
  const proxy = await startPgProxy(primary.port);
  afterTest(() => proxy.close());
  const url = `${proxy.through(primary.url)}?schema=promoted`;
  await migrateStore(url);
  const store = postgresStore(url, { name: "web-1" });
  afterTest(() => store.close());
  const [kept, cut] = [await openToWrite(store, "kept"), await openToWrite(store, "cut")];
  for (const log of [kept, cut]) await log.append([notice("a"), notice("b")]);
  const there = new pg.Client(standby.cluster.url);
  await there.connect();
  afterTest(() => there.end().catch(() => undefined));
  const countThere = async (): Promise<number> =>
    Number((await there.query<{ n: string }>("select count(*) as n from promoted.events")).rows[0]?.n);
  await expect.poll(countThere).toBe(4);
  standby.cutOff();
  await cut.append([notice("c"), notice("acknowledged and lost")]);
  const reader = await openToRead(store, "cut");
  expect(reader.events.length).toBe(4);

  const accept = proxy.refuse();
  proxy.cut();
  await primary.stop("immediate");
  await standby.promote();
  proxy.retarget(standby.cluster.port);
  accept();

  // Whose log is shorter by now is refused by the guard; the other by the incarnation, with the next renewal.
  expect(await codeOf(cut.append([notice("d")]))).toBe("session_fenced");
  expect(await codeOf(engine(store).node.renew())).toBe("session_fenced");
  expect([kept.lost.aborted, cut.lost.aborted]).toEqual([true, true]);
  expect(await codeOf(reader.refresh())).toBe("log_replaced");
  const again = [await openToWrite(store, "kept"), await openToWrite(store, "cut")];
  expect(again.map(({ restored, events }) => [restored, messagesOf(events)])).toEqual([
    [true, ["a", "b"]],
    [true, ["a", "b"]],
  ]);
  for (const log of again) await log.append([notice("on")]);
  for (const log of again) expect(log.events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
});
