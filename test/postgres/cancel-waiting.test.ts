/**
 * A cancel of a waiting turn counts only if its node still holds the session: otherwise another node may have begun the
 * turn, and the answer "cancelled" would be wrong.
 */

import { expect, test } from "vitest";

import { database } from "./fixture.ts";
import { codeOf, expire, notice, openToWrite, proxiedDatabase } from "./nodes.ts";

const REQUEST = { kind: "send" };

test("a node that was deposed cannot cancel a turn that waits", async () => {
  const db = await database();
  const [one, two] = [db.store({ name: "one", pool: "web" }), db.store({ name: "two", pool: "web" })];
  await (await openToWrite(one)).append([notice("a")]);
  await one.waiting("s1").add("turn", REQUEST);
  await expire(db, "one");
  await openToWrite(two);
  expect(await codeOf(one.waiting("s1").cancel("turn"))).toBe("session_fenced");
  expect(await two.waiting("s1").list()).toEqual([{ turn: "turn", request: REQUEST, cancelled: false }]);
  await two.waiting("s1").cancel("turn");
  expect(await one.waiting("s1").list()).toEqual([{ turn: "turn", request: REQUEST, cancelled: true }]);
});

test("a node that does not hold the session cannot cancel a turn that waits", async () => {
  const db = await database();
  const [one, two] = [db.store({ name: "one", pool: "web" }), db.store({ name: "two", pool: "web" })];
  const log = await openToWrite(one);
  await log.append([notice("a")]);
  await one.waiting("s1").add("turn", REQUEST);
  expect(await codeOf(two.waiting("s1").cancel("turn"))).toBe("session_fenced");
  await log.close();
  expect(await codeOf(one.waiting("s1").cancel("turn"))).toBe("session_fenced");
  expect(await one.waiting("s1").list()).toEqual([{ turn: "turn", request: REQUEST, cancelled: false }]);
});

test("a cancel asked for under an earlier hold of the same node is refused", async () => {
  const db = await proxiedDatabase();
  const [one, two] = [db.proxied({ name: "one", pool: "web" }), db.store({ name: "two", pool: "web" })];
  await (await openToWrite(one)).append([notice("a")]);
  await one.waiting("s1").add("turn", REQUEST);
  const held = db.proxy.hold("_cancel_waiting");
  const cancelled = codeOf(one.waiting("s1").cancel("turn"));
  await held.reached;
  await expire(db, "one");
  await (await openToWrite(two)).close();
  held.release();
  expect(await cancelled).toBe("session_fenced");
  expect(await two.waiting("s1").list()).toEqual([{ turn: "turn", request: REQUEST, cancelled: false }]);
});

test("a cancel waits for an acquisition that is being committed, and is refused by it", async () => {
  const db = await database();
  const one = db.store({ name: "one", pool: "web" });
  await (await openToWrite(one)).append([notice("a")]);
  await one.waiting("s1").add("turn", REQUEST);
  await db.sql("begin");
  await db.sql("update s.sessions set fence = fence + 1 where id = 's1'");
  const cancelled = codeOf(one.waiting("s1").cancel("turn"));
  const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1";
  while ((await db.sql(waits, [`%${db.schema}".inbox%`])).length === 0);
  await db.sql("commit");
  expect(await cancelled).toBe("session_fenced");
  expect(await one.waiting("s1").list()).toEqual([{ turn: "turn", request: REQUEST, cancelled: false }]);
});
