/** What viewers on other nodes see: every row once, those of the living writer only, and hints after the fact. */

import pg from "pg";
import { expect, inject, test } from "vitest";

import type { Log, LogChange } from "../../src/runtime/log/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { database } from "./fixture.ts";
import {
  begins,
  codeOf,
  engine,
  expire,
  messagesOf,
  notice,
  openToRead,
  openToWrite,
  proxiedDatabase,
} from "./nodes.ts";

/** Collects changes until the test ends. */
function follow(reader: Log): { readonly changes: LogChange[]; readonly rows: () => readonly string[] } {
  const changes: LogChange[] = [];
  const end = new AbortController();
  const following = (async () => {
    for await (const change of reader.changes(end.signal)) changes.push(change);
  })();
  afterTest(() => {
    end.abort();
    return following;
  });
  return { changes, rows: () => changes.flatMap(({ rows }) => rows) };
}

test("a row that two looks at once have found is shown once", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.store());
  await log.append([begins("turn")], { turn: "begin" });
  log.scratch.write(["one", "two"]);
  await log.scratch.rows();
  const store = db.proxied();
  const reader = await openToRead(store);
  const first = db.proxy.hold("_watch", "answer");
  const { rows, changes } = follow(reader);
  await first.reached;
  const { counters } = engine(store).watcher;
  engine(store).watcher.heard(["s1"]);
  await expect.poll(() => counters.looks).toBeGreaterThan(0);
  first.release();
  await expect.poll(rows).toContain("two");
  log.scratch.write(["three"]);
  await log.append([notice("end")]);
  await expect.poll(() => messagesOf(changes.flatMap(({ events }) => events))).toContain("end");
  await expect.poll(rows).toEqual(["one", "two", "three"]);
});

test("an answer that comes late does not bring a writer back that has left", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.store());
  await log.append([notice("a")]);
  const store = db.proxied();
  const reader = await openToRead(store);
  const first = db.proxy.hold("_watch", "answer");
  const { changes } = follow(reader);
  await first.reached;
  await log.close();
  engine(store).watcher.heard(["s1"]);
  await expect.poll(() => engine(store).watcher.counters.looks).toBeGreaterThan(0);
  first.release();
  await expect.poll(() => changes.at(-1)?.hasWriter).toBe(false);
  expect(changes.some(({ hasWriter }) => hasWriter)).toBe(false);
});

test("rows of a writer that is gone are not shown to viewers; the next writer finds them", async () => {
  const db = await database();
  const dead = await openToWrite(db.store({ name: "web-1" }));
  await dead.append([begins("turn")], { turn: "begin" });
  dead.scratch.write(["of the dead"]);
  await dead.scratch.rows();
  const before = follow(await openToRead(db.store()));
  await expect.poll(before.rows).toEqual(["of the dead"]);
  await expire(db, "web-1");
  const next = await openToWrite(db.store({ name: "web-2" }));
  expect(await next.scratch.rows()).toEqual(["of the dead"]);
  const after = follow(await openToRead(db.store()));
  next.scratch.write(["of the living"]);
  await expect.poll(after.rows).toEqual(["of the living"]);
  await expect.poll(before.rows).toEqual(["of the dead", "of the living"]);
  next.scratch.clear();
  expect(await next.scratch.rows()).toEqual([]);
});

test("a hint is sent when what it tells of can be read, and not before", async () => {
  const db = await proxiedDatabase();
  const heard: string[] = [];
  const listener = new pg.Client(inject("postgresUrl"));
  await listener.connect();
  afterTest(() => listener.end());
  listener.on("notification", ({ payload = "" }) => void heard.push(...payload.split(" ").slice(1)));
  await listener.query(`listen "throughline_${db.schema}"`);
  const store = db.proxied();
  const [slow, quick] = [await openToWrite(store, "slow"), await openToWrite(store, "quick")];
  engine(store).hints.start();
  await expect.poll(() => engine(store).hints.state).toBe("listening");
  const held = db.proxy.hold("_append");
  const append = slow.append([notice("a")]);
  await held.reached;
  await quick.append([notice("b")]);
  await expect.poll(() => heard).toContain("quick");
  expect(heard).not.toContain("slow");
  held.release();
  await append;
  await expect.poll(() => heard).toContain("slow");
});

test("a connection for hints that has gone silent is given up and made again", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ leaseMs: 1500 });
  const { hints } = engine(store);
  hints.start();
  await expect.poll(() => hints.state).toBe("listening");
  const heal = db.proxy.silence("answers");
  hints.tell(["s1"]);
  await hints.flush(); // resolves although nobody answers
  await expect.poll(() => hints.state).toBe("connecting");
  heal("lose");
  await expect.poll(() => hints.state).toBe("listening");
});

test("a viewer who has seen more than the log holds by now is told that the log was replaced", async () => {
  const db = await database();
  const log = await openToWrite(db.store());
  await log.append([notice("a"), notice("b"), notice("c")]);
  const reader = await openToRead(db.store());
  const other = await openToRead(db.store());
  const changes = other.changes()[Symbol.asyncIterator]();
  await changes.next();
  const next = codeOf(changes.next());
  // As after a restore to an earlier state.
  await db.sql("delete from s.events where seq > 0");
  await db.sql("update s.sessions set next_seq = 1");
  expect(await codeOf(reader.refresh())).toBe("log_replaced");
  expect(await next).toBe("log_replaced");
});

test("a viewer catches up with many events at once", async () => {
  const db = await database();
  const log = await openToWrite(db.store());
  await log.append([notice("first")]);
  const { changes } = follow(await openToRead(db.store()));
  await expect.poll(() => changes.length).toBe(1);
  await log.append(Array.from({ length: 1200 }, (_, n) => notice(`${n}`)));
  await expect.poll(() => changes.flatMap(({ events }) => events).length).toBe(1200);
  expect(messagesOf(changes.flatMap(({ events }) => events))).toEqual(
    Array.from({ length: 1200 }, (_, n) => `${n}`),
  );
});
