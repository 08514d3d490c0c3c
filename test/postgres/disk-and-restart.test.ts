/** A disk that is full, and a server that crashes: tests that need a server of their own. */

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";
import { beforeAll, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { migrateStore, postgresStore } from "../../src/runtime/postgres/index.ts";
import { afterFile, afterTest } from "../support/clean-up.ts";
import { type Cluster, startCluster } from "../support/postgres-cluster.ts";
import { database } from "./fixture.ts";
import { engine, errorOf, messagesIn, messagesOf, notice, openToRead, openToWrite } from "./nodes.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  afterFile(() => cluster.remove());
});

let schemas = 0;

/** The address of a new store on the server of this file. */
async function newStore(): Promise<string> {
  schemas += 1;
  const url = `${cluster.url}?schema=own_${schemas}`;
  await migrateStore(url);
  return url;
}

async function run(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client(cluster.url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A small disk for the events of a store. Undefined where this process may not make one. */
async function tinyDisk(url: string): Promise<{ readonly grow: () => void } | undefined> {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return undefined;
  const folder = join(cluster.folder, "tiny");
  mkdirSync(folder);
  const mount = (...args: readonly string[]) => execFileSync("mount", [...args, folder], { stdio: "ignore" });
  try {
    mount("-t", "tmpfs", "-o", "size=2m", "none");
  } catch {
    return undefined;
  }
  const schema = new URL(url).searchParams.get("schema") ?? "";
  afterTest(async () => {
    // The server could not start again without the disk.
    await run(`drop schema ${schema} cascade`, "drop tablespace tiny", "checkpoint");
    execFileSync("umount", ["--lazy", folder]);
  });
  const { uid, gid } = statSync(cluster.folder);
  chownSync(folder, uid, gid);
  await run(
    `create tablespace tiny location '${folder}'`,
    `alter table ${schema}.events set tablespace tiny`,
    `alter index ${schema}.events_pkey set tablespace tiny`,
  );
  return { grow: () => void mount("-o", "remount,size=64m") };
}

test("a full disk refuses the append and nothing else, and the same append succeeds when there is room", async ({
  skip,
}) => {
  const url = await newStore();
  const disk = await tinyDisk(url);
  skip(disk === undefined, "needs the right to mount a small disk");
  const store = postgresStore(url);
  afterTest(() => store.close());
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const large = notice(randomBytes(1_500_000).toString("base64url"));
  const error = await errorOf(log.append([large, notice("behind it")]));
  expect(error).toMatchObject({ code: "store_full", retryable: true });
  expect(error.message).toContain("the disk of the database server is full");
  expect(log.lost.aborted).toBe(false);
  await log.append([notice("b")]);
  disk?.grow();
  await log.append([large]);
  const reader = await openToRead(store);
  expect(reader.events).toEqual(log.events);
  expect(reader.events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
  expect(messagesOf(reader.events).slice(0, 2)).toEqual(["a", "b"]);
});

test("an append that the server has no room for is not written, and the next one takes its place", async () => {
  const db = await database();
  await db.sql(`create function s.full() returns trigger language plpgsql as $$
    begin
      if new.line like '%refuse me%' then raise exception 'no room' using errcode = '53100'; end if;
      return new;
    end $$`);
  await db.sql("create trigger full_disk before insert on s.events for each row execute function s.full()");
  const store = db.store();
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  // Appended together, so that one of them fails while others wait behind it.
  const outcomes = await Promise.allSettled([
    log.append([notice("refuse me"), notice("with it")]),
    log.append([notice("b")]),
  ]);
  expect(outcomes.map(({ status }) => status)).toContain("rejected");
  const { reason } = outcomes[0] as PromiseRejectedResult;
  expect(reason).toMatchObject({ code: "store_full", retryable: true });
  const [c] = await log.append([notice("c")]);
  expect([log.lost.aborted, c?.seq]).toEqual([false, log.events.length - 1]);
  expect(await messagesIn(db)).toEqual(messagesOf(log.events));
  expect((await openToRead(db.store())).events).toEqual(log.events);
});

test("a server that crashes during appends loses nothing that was acknowledged, and doubles nothing", async () => {
  const url = await newStore();
  const store = postgresStore(url);
  afterTest(() => store.close());
  const acknowledged = new Map<string, LoggedEvent[]>();
  const over = new AbortController();
  const writers = Array.from({ length: 6 }, async (_, n) => {
    const id = `s${n}`;
    const log = await openToWrite(store, id);
    const own: LoggedEvent[] = [];
    acknowledged.set(id, own);
    for (let count = 0; !over.signal.aborted; count += 1)
      own.push(...(await log.append([notice(`${id} ${count}`)])));
  });
  const progress = async (): Promise<void> => {
    const goal = new Map([...acknowledged].map(([id, events]) => [id, events.length + 5]));
    await expect
      .poll(() => [...goal].every(([id, least]) => (acknowledged.get(id)?.length ?? 0) >= least))
      .toBe(true);
  };
  await expect.poll(() => acknowledged.size).toBe(6);
  await progress();
  for (let crashes = 0; crashes < 2; crashes += 1) {
    await cluster.restart("immediate");
    await progress();
  }
  over.abort();
  await Promise.all(writers);
  for (const [id, events] of acknowledged) {
    const reader = await openToRead(store, id);
    expect(reader.events).toEqual(events);
    expect(messagesOf(reader.events)).toEqual(events.map((_, count) => `${id} ${count}`));
  }
  expect(engine(store).appender.counters.repeated).toBeGreaterThan(0);
  expect(engine(store).node.deaths).toBe(0);
});
