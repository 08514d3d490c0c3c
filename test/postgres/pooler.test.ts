/**
 * A pooler in transaction mode between the store and the server. Each statement may go to another connection, so nothing
 * may depend on one: no names of statements, no settings, no locks of a session, no LISTEN.
 */

import pg from "pg";
import { beforeAll, describe, expect, inject, test } from "vitest";

import type { Store } from "../../src/runtime/log/index.ts";
import { migrateStore, postgresStore, type PostgresStoreOptions } from "../../src/runtime/postgres/index.ts";
import { describeLogContract, type StoreUnderTest } from "../contracts/log-contract.ts";
import { afterFile, afterTest } from "../support/clean-up.ts";
import { type PgStatement, startPgProxy } from "../support/pg-proxy.ts";
import { type Pooler, poolerProgram, startPooler } from "../support/pgbouncer.ts";
import { type Database, database, makeDatabase } from "./fixture.ts";
import {
  begins,
  codeOf,
  ends,
  engine,
  expire,
  messagesIn,
  messagesOf,
  notice,
  openToRead,
  openToWrite,
  shared,
} from "./nodes.ts";

const serverPort = (): number => Number(new URL(inject("postgresUrl")).port);

const missing = poolerProgram() === undefined;
if (missing) process.stderr.write("pgbouncer is not installed, so the tests with a pooler are skipped\n");

test("a migration keeps its settings to its transaction, and its lock too", async () => {
  const db = await database();
  const proxy = await startPgProxy(serverPort());
  afterTest(() => proxy.close());
  const seen: string[] = [];
  proxy.onStatement(({ text }) => seen.push(text.trim()));
  const schema = `${db.schema}_fresh`;
  afterTest(() => db.sql(`drop schema "${schema}" cascade`));
  await migrateStore(proxy.through(db.url.replace(db.schema, schema)));
  expect(seen.filter((text) => /^set |advisory/i.test(text))).toEqual([
    "set local lock_timeout = '3s'",
    expect.stringMatching(/^select pg_advisory_xact_lock\(\d+\)$/),
  ]);
  expect(seen.indexOf("set local lock_timeout = '3s'")).toBeGreaterThan(seen.indexOf("begin"));
});

describe.skipIf(missing)("through a pooler in transaction mode", () => {
  let pooler: Pooler;
  beforeAll(async () => {
    pooler = await startPooler({ server: serverPort(), size: 4 });
    afterFile(() => pooler.stop());
  });

  /** A store by way of the pooler. */
  function pooled(db: Database, options: PostgresStoreOptions = {}, parameters = ""): Store {
    const store = postgresStore(pooler.through(db.url) + parameters, options);
    afterTest(() => store.close());
    return store;
  }

  describeLogContract("postgresStore behind pgbouncer", async (): Promise<StoreUnderTest> => {
    const { url, sql, dispose } = await makeDatabase();
    const stores: Store[] = [];
    const again = (): Store => {
      const store = postgresStore(pooler.through(url));
      stores.push(store);
      return store;
    };
    return {
      store: again(),
      again,
      touch: async (id, at) => {
        await sql("update s.sessions set modified_at = to_timestamp($2::float8 / 1000) where id = $1", [
          id,
          at,
        ]);
      },
      async dispose() {
        for (const store of stores) await store.close();
        await dispose();
      },
    };
  });

  test("statements are named until the pooler mixes them up, and never again then; nothing fails", async () => {
    const db = await database();
    const stores = [pooled(db, { name: "web-1" }), pooled(db, { name: "web-2" })];
    const logs = await Promise.all(stores.map((store, n) => openToWrite(store, `s${n}`)));
    for (let round = 0; round < 30; round += 1)
      await Promise.all(logs.map((log) => log.append([notice(`round ${round}`)])));
    await Promise.all(stores.map((store) => openToRead(store, "s0")));
    expect(stores.map((store) => engine(store).connections.prepares)).toContain(false);
    for (const [n, log] of logs.entries()) {
      expect(await messagesIn(db, `s${n}`)).toEqual(messagesOf(log.events));
      expect([log.events.length, log.lost.aborted]).toEqual([30, false]);
    }
  });

  test("with prepare=never no statement has a name", async () => {
    const db = await database();
    const proxy = await startPgProxy(pooler.port);
    afterTest(() => proxy.close());
    const seen: PgStatement[] = [];
    proxy.onStatement((statement) => seen.push(statement));
    const store = postgresStore(`${proxy.through(db.url)}&prepare=never`);
    afterTest(() => store.close());
    const log = await openToWrite(store);
    await log.append([notice("a")]);
    await openToRead(store);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.filter(({ name }) => name !== "")).toEqual([]);
    expect([engine(store).connections.prepares, await messagesIn(db)]).toEqual([true, ["a"]]);
  });

  test("hints do not arrive, so the nodes poll, and say so; with a direct address they listen", async () => {
    const db = await database();
    const [one, two] = [pooled(db, { name: "web-1" }), pooled(db, { name: "web-2" })];
    const direct = pooled(db, { name: "web-3", directUrl: db.url });
    for (const store of [one, two, direct]) engine(store).hints.start();
    await expect
      .poll(() => [one, two, direct].map((store) => engine(store).hints.state))
      .toEqual(["polling", "polling", "listening"]);
    const log = await openToWrite(one);
    await log.append([notice("a")]);
    const reader = await openToRead(two);
    const changes = reader.changes()[Symbol.asyncIterator]();
    await changes.next();
    await log.append([notice("b")]);
    const { value } = await changes.next();
    expect(messagesOf(value.events)).toEqual(["b"]);
    await changes.return?.();
  });

  test("an admission reaches the holder without hints", async () => {
    const db = await database();
    const [one, two] = [
      pooled(db, { name: "web-1", pool: "web" }),
      pooled(db, { name: "web-2", pool: "web" }),
    ];
    const log = await openToWrite(one);
    await log.append([begins("first")], { turn: "begin" });
    const heard: string[] = [];
    afterTest(shared(one).onAsked((id) => void heard.push(id)));
    expect(await shared(two).admitTurn("s1", "second", {})).toMatchObject({ holder: "web-1" });
    await expect.poll(() => heard).toContain("s1");
    await log.append([ends("first")], { turn: "end" });
    await expire(db, "web-1");
    expect(await shared(two).orphans(10)).toEqual([{ tenant: "", id: "s1" }]);
    const next = await openToWrite(two);
    await next.append([notice("taken over")]);
    expect(await codeOf(log.append([notice("late")]))).toBe("session_fenced");
  });

  test("a store leaves no settings and no locks behind, and asks for none", async () => {
    // One connection to the server for all: what is left behind on it would be seen by the next.
    const narrow = await startPooler({ server: serverPort(), size: 1 });
    afterTest(() => narrow.stop());
    const proxy = await startPgProxy(narrow.port);
    afterTest(() => proxy.close());
    const seen: string[] = [];
    proxy.onStatement(({ text }) => seen.push(text.trim()));
    const db = await database();
    const schema = `${db.schema}_pooled`;
    const url = proxy.through(db.url.replace(db.schema, schema));
    const probe = new pg.Client(narrow.through(inject("postgresUrl")));
    await probe.connect();
    const state = async (): Promise<unknown> =>
      (
        await probe.query(`select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
            current_setting('search_path') as path, current_setting('synchronous_commit') as sync,
            (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`)
      ).rows;
    const before = await state();
    await migrateStore(url);
    expect(await state()).toEqual(before);
    const store = postgresStore(url, { pool: "web" });
    afterTest(async () => {
      await store.close();
      await probe.query(`drop schema "${schema}" cascade`);
      await probe.end();
    });
    const log = await openToWrite(store);
    await log.append([begins("first")], { turn: "begin" });
    await log.putBlob(Buffer.from("blob"));
    log.scratch.write(["row"]);
    await log.scratch.rows();
    await shared(store).admitTurn("s1", "second", {});
    await shared(store).commands("s1");
    await log.append([ends("first")], { turn: "end" });
    await log.close();
    await store.create("s2", { events: [notice("whole")], blobs: new Map() });
    for await (const { id } of store.list()) await openToRead(store, id);
    await store.remove("s2");
    await engine(store).node.renew();
    await shared(store).orphans(10);
    expect(await state()).toEqual(before);
    expect(seen.length).toBeGreaterThan(20);
    const stateful =
      /^set (?!local )|set_config\([^)]*false|pg_(?:try_)?advisory_lock|create temp|^prepare|^declare|^lock |session_replication/i;
    expect(seen.filter((text) => stateful.test(text))).toEqual([]);
  });

  test("migrations at once through a pooler wait for each other", async () => {
    const db = await database();
    const schema = `${db.schema}_many`;
    const url = pooler.through(db.url.replace(db.schema, schema));
    afterTest(() => db.sql(`drop schema "${schema}" cascade`));
    const made = await Promise.all(Array.from({ length: 4 }, () => migrateStore(url)));
    expect(made.filter(({ statements }) => statements.length > 0).length).toBe(1);
    expect(made.map(({ to }) => to)).toEqual(made.map(() => made[0]?.to));
  });
});
