/**
 * What is asked of the sessions of two tenants with the same ids in the same tables: turns, commands, holders, orphans.
 * Goes on with tenants.test.ts.
 */

import { expect, test } from "vitest";

import type { Store } from "../../src/runtime/log/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { database } from "./fixture.ts";
import {
  begins,
  codeOf,
  ends,
  expire,
  made,
  notice,
  openToRead,
  openToWrite,
  rowOf,
  shared,
  tenantsOf,
} from "./nodes.ts";

async function waitingIn(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const id of store.sessionsWithWaiting()) ids.push(id);
  return ids;
}

test("holder: who holds one tenant's session holds nothing of the other", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  await made(b, "s1", "b");
  const log = await openToWrite(a);
  await log.append([notice("a")]);
  const holders = () => Promise.all([a, b].map(async (store) => (await shared(store).holderOf("s1")).holder));
  expect(await holders()).toEqual(["web-1", undefined]);
  const other = await openToWrite(elsewhere.b);
  expect(await holders()).toEqual(["web-1", "web-2"]);
  await log.close();
  expect(await holders()).toEqual([undefined, "web-2"]);
  await other.close();
});

test("waiting: turns wait for their own tenant", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await made(a, "s1", "a");
  await made(b, "s1", "b");
  await made(b, "s2", "b");
  await a.waiting("s1").add("turn", { of: "a" });
  await shared(b).admitTurn("s2", "turn", { of: "b" });
  expect([await waitingIn(a), await waitingIn(b)]).toEqual([["s1"], ["s2"]]);
  expect(await b.waiting("s1").list()).toEqual([]);
  await shared(b).admitTurn("s1", "turn", { of: "b" });
  const log = await openToWrite(b);
  await b.waiting("s1").cancel("turn");
  expect([await a.waiting("s1").list(), await b.waiting("s1").list()]).toEqual([
    [{ turn: "turn", request: { of: "a" }, cancelled: false }],
    [{ turn: "turn", request: { of: "b" }, cancelled: true }],
  ]);
  await b.waiting("s1").remove("turn");
  await log.close();
  expect([(await a.waiting("s1").list()).length, (await b.waiting("s1").list()).length]).toEqual([1, 0]);
  expect((await a.waiting("s1").recover()).turns.length).toBe(1);
});

test("waiting: what waits for one tenant does not wake the session of the other", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await made(b, "s1", "b");
  await shared(b).admitTurn("s1", "turn", {});
  const terminal = db.store({ tenant: "a", name: "laptop" });
  for (const store of [a, terminal]) {
    const log = await openToWrite(store);
    await log.append([begins("own")], { turn: "begin" });
    await log.append([ends("own")], { turn: "end" });
    await log.close();
    expect(await rowOf(db, "s1", "a")).toMatchObject({ wake_at: null });
  }
});

test("waiting: who holds one tenant's session cancels nothing of the other's", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  // Held by one node, with the same fence.
  for (const [store, other] of [
    [a, elsewhere.a],
    [b, elsewhere.b],
  ] as const) {
    await (await openToWrite(store)).append([notice("made")]);
    await shared(other).admitTurn("s1", "turn", {});
  }
  await db.sql("update s.sessions set fence = fence + 1 where tenant = 'a'");
  expect(await codeOf(a.waiting("s1").cancel("turn"))).toBe("session_fenced");
  await b.waiting("s1").cancel("turn");
  expect(await db.sql("select tenant, cancelled from s.inbox order by tenant")).toEqual([
    { tenant: "a", cancelled: false },
    { tenant: "b", cancelled: true },
  ]);
});

test("commands: each tenant's holder gets its own, and removes no others", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await ofA.append([notice("a")]);
  await ofB.append([notice("b")]);
  const command = { key: "cancel:t", kind: "cancel", body: { turn: "t" } } as const;
  await shared(elsewhere.a).admitCommand("s1", command);
  expect([await shared(a).commands("s1"), await shared(b).commands("s1")]).toEqual([[command], []]);
  await shared(elsewhere.b).admitCommand("s1", { ...command, body: { turn: "of b" } });
  await shared(a).settleCommands("s1", ["cancel:t"]);
  expect([await shared(a).commands("s1"), await shared(b).commands("s1")]).toEqual([
    [],
    [{ ...command, body: { turn: "of b" } }],
  ]);
  const asked = await db.sql("select tenant, asked::int as asked from s.sessions order by tenant");
  expect(asked).toEqual([
    { tenant: "a", asked: 1 },
    { tenant: "b", asked: 1 },
  ]);
});

test("asked: the listener is told the tenant", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await ofA.append([notice("a")]);
  await ofB.append([notice("b")]);
  const heard: string[] = [];
  afterTest(shared(a).onAsked((id, tenant) => void heard.push(`${tenant}/${id}`)));
  await shared(elsewhere.b).admitTurn("s1", "turn", {});
  // By the answer to an append, which names no other tenant's session.
  await ofA.append([notice("a")]);
  await ofB.append([notice("b")]);
  expect(heard).toContain("b/s1");
});

test("orphans: a node of the pool gets them with their tenants", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  for (const store of [a, b]) await (await openToWrite(store)).append([begins("turn")], { turn: "begin" });
  const only = await openToWrite(b, "only-b");
  await only.append([begins("turn")], { turn: "begin" });
  await expire(db, "web-1");
  const found = await shared(elsewhere.a).orphans(10);
  expect(found.map(({ tenant, id }) => `${tenant}/${id}`).toSorted()).toEqual(["a/s1", "b/only-b", "b/s1"]);
  const taken = await openToWrite(elsewhere.a);
  await taken.append([notice("taken")]);
  expect(
    (await shared(elsewhere.b).orphans(10)).map(({ tenant, id }) => `${tenant}/${id}`).toSorted(),
  ).toEqual(["b/only-b", "b/s1"]);
});

test("usage: sessions and bytes of one tenant", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await made(a, "s1", "a");
  await made(a, "s2", "a");
  await made(b, "s1", "much longer than the others");
  const [ofA, ofB] = [await shared(a).usage(), await shared(b).usage()];
  expect([ofA.sessions, ofB.sessions]).toEqual([2, 1]);
  const reader = await openToRead(b);
  expect(ofB.bytes).toBe((await reader.lines()).length);
});
