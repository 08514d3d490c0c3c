/**
 * Two tenants with the same session ids in the same tables. No method of a store shows one of them anything of the
 * other, changes it, or waits for it.
 */

import { expect, test } from "vitest";

import type { LogChange, SharedStore, Store } from "../../src/runtime/log/index.ts";
import { linesFrom } from "../../src/runtime/log/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { database } from "./fixture.ts";
import {
  codeOf,
  engine,
  expire,
  made,
  messagesOf,
  notice,
  openToRead,
  openToWrite,
  proxiedDatabase,
  shared,
  tenantsOf,
} from "./nodes.ts";

/** Every method, and the test below that shows it apart; `node`: it is about the node and knows no sessions. */
const STORE: Record<keyof Store, string> = {
  shared: "each of its methods",
  open: "open",
  create: "create",
  exists: "exists",
  list: "list",
  count: "list",
  remove: "remove",
  waiting: "waiting",
  sessionsWithWaiting: "waiting",
  close: "node",
};

const SHARED: Record<keyof SharedStore, string> = {
  node: "node",
  tenant: "open",
  pool: "node",
  holderOf: "holder",
  admitTurn: "waiting",
  admitCommand: "commands",
  confirmLease: "node",
  commands: "commands",
  rest: "orphans",
  settleCommands: "commands",
  onAsked: "asked",
  onWake: "node",
  orphans: "orphans",
  forTenant: "open",
  drain: "node",
  tokens: "node", // test/postgres/tokens.test.ts
  health: "node",
  nodes: "node",
  describe: "node",
  metrics: "node",
  usage: "usage",
};

test("every method of a store is among those that are shown here", async () => {
  const db = await database();
  const store = db.store();
  expect(Object.keys(store).toSorted()).toEqual(Object.keys(STORE).toSorted());
  expect(Object.keys(shared(store)).toSorted()).toEqual(Object.keys(SHARED).toSorted());
});

async function idsOf(store: Store, search?: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list(search === undefined ? {} : { search })) ids.push(id);
  return ids;
}

test("open: logs with the same id are two logs, also when they are written in one statement", async () => {
  const db = await proxiedDatabase();
  const a = db.proxied({ tenant: "a", name: "web-1" });
  const b = shared(a).forTenant("b");
  expect([shared(a).tenant, shared(b).tenant, shared(b).forTenant("b") === b]).toEqual(["a", "b", true]);
  const logs = [await openToWrite(a), await openToWrite(b)];
  const busy = [await openToWrite(a, "x"), await openToWrite(a, "y")];
  const holds = busy.map(() => db.proxy.hold("_append"));
  const waits = busy.map((log) => log.append([notice("busy")]));
  for (const { reached } of holds) await reached;
  const { counters } = engine(a).appender;
  const before = counters.batches;
  const appends = [logs[0]?.append([notice("of a")]), logs[1]?.append([notice("of b"), notice("again")])];
  for (const hold of holds) hold.release();
  for (const one of [...waits, ...appends]) await one;
  expect(counters.batches - before).toBe(1);
  expect(logs.map(({ events }) => messagesOf(events))).toEqual([["of a"], ["of b", "again"]]);
  for (const [store, expected] of [
    [a, ["of a"]],
    [b, ["of b", "again"]],
    [db.store({ tenant: "b" }), ["of b", "again"]],
  ] as const) {
    const reader = await openToRead(store);
    expect(messagesOf(reader.events)).toEqual(expected);
    expect(reader.events.map(({ seq }) => seq)).toEqual(expected.map((_, seq) => seq));
    expect(await reader.lines()).toEqual(linesFrom(reader.events));
  }
});

test("open: a refusal of one tenant's writer leaves the other's alone", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await Promise.all([ofA.append([notice("a")]), ofB.append([notice("b")])]);
  await db.sql("update s.sessions set fence = fence + 1 where tenant = 'a'");
  expect(await codeOf(ofA.append([notice("late")]))).toBe("session_fenced");
  await ofB.append([notice("on")]);
  expect([ofA.lost.aborted, ofB.lost.aborted]).toEqual([true, false]);
  // Another writer of a's session is not kept out by b's.
  await openToWrite(a);
});

test("open: an id that one tenant reserves and gives back stays reserved for the other", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  // Held by one node, with the same fence.
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await ofA.close();
  await ofB.append([notice("b")]);
  expect(await db.sql("select tenant, made from s.sessions")).toEqual([{ tenant: "b", made: true }]);
});

test("open: a session of one tenant does not exist for the other", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await made(a, "only-a", "secret");
  expect([await a.exists("only-a"), await b.exists("only-a")]).toEqual([true, false]);
  expect(await codeOf(b.open("only-a", { mode: "read" }))).toBe("session_not_found");
  expect(await codeOf(b.remove("only-a"))).toBe("session_not_found");
  const log = await openToWrite(b, "only-a");
  expect(log.events).toEqual([]);
});

const whole = (message: string) => ({ events: [notice(message)], blobs: new Map() });

test("create: an id that another tenant uses is free", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await a.create("s1", whole("of a"));
  await b.create("s1", whole("of b"));
  expect(await codeOf(b.create("s1", whole("again")))).toBe("session_exists");
  // An id that a node of another tenant has reserved before it died.
  await openToWrite(a, "reserved");
  await expire(db, "web-1");
  await b.create("reserved", whole("of b"));
  expect(await db.sql("select tenant from s.sessions where id = 'reserved' order by tenant")).toEqual([
    { tenant: "a" },
    { tenant: "b" },
  ]);
  expect([messagesOf((await openToRead(a)).events), messagesOf((await openToRead(b)).events)]).toEqual([
    ["of a"],
    ["of b"],
  ]);
});

test("list: each tenant has its own, in any page and with any search", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  for (const id of ["both", "x-a", "y-a"]) await made(a, id, "of a");
  for (const id of ["both", "z-b"]) await made(b, id, "of b", "of b");
  expect([(await idsOf(a)).toSorted(), (await idsOf(b)).toSorted()]).toEqual([
    ["both", "x-a", "y-a"],
    ["both", "z-b"],
  ]);
  expect([await a.count?.(), await b.count?.()]).toEqual([3, 2]);
  expect([await idsOf(a, "both"), await idsOf(b, "x-a"), await idsOf(b, "a")]).toEqual([["both"], [], []]);
  // The summary is made anew where there is none, and kept for its own tenant.
  await db.sql("update s.sessions set summary = null");
  for await (const { id, summary } of b.list()) expect([id, summary?.events]).toEqual([id, 2]);
  for await (const { id, summary } of a.list()) expect([id, summary?.events]).toEqual([id, 1]);
  const page: string[] = [];
  for await (const one of b.list({ limit: 1 })) {
    for await (const { id } of b.list({ behind: one })) page.push(one.id, id);
  }
  expect(page.toSorted()).toEqual(["both", "z-b"]);
});

const titles = async (store: Store): Promise<readonly unknown[]> => {
  const all: (readonly [string, string | undefined])[] = [];
  for await (const { id, summary } of store.list()) all.push([id, summary?.title]);
  return all.toSorted(([one], [two]) => one.localeCompare(two));
};

test("list: sessions with the same id keep their own size and summary", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  const ids = Array.from({ length: 8 }, (_, n) => `s${n}`);
  for (const [n, id] of ids.entries())
    for (const [store, title] of n % 2 === 0
      ? ([
          [a, "A"],
          [b, "B"],
        ] as const)
      : ([
          [b, "B"],
          [a, "A"],
        ] as const)) {
      const log = await openToWrite(store, id);
      await log.append([{ type: "title", title: title.repeat(n + 1) }]);
      await log.close();
    }
  await db.sql("update s.sessions set summary = null where tenant = 'a'");
  // The first list writes the summaries that are missing; those of the other tenant stay.
  for (const [store, title] of [
    [a, "A"],
    [b, "B"],
    [a, "A"],
  ] as const)
    expect(await titles(store)).toEqual(ids.map((id, n) => [id, title.repeat(n + 1)]));
});

test("remove: the other tenant's writer goes on", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  await made(a, "s1", "a");
  const log = await openToWrite(b);
  await log.append([notice("b")]);
  const fences = await db.sql("select distinct fence from s.sessions");
  expect(fences).toHaveLength(1);
  await a.remove("s1");
  await log.append([notice("on")]);
  expect([log.lost.aborted, messagesOf(log.events)]).toEqual([false, ["b", "on"]]);
});

test("remove: everything of the other tenant's session stays", async () => {
  const db = await database();
  const { a, b } = tenantsOf(db);
  for (const store of [a, b]) {
    const log = await openToWrite(store);
    await log.append([notice("event")]);
    await log.putBlob(Buffer.from("blob"));
    log.scratch.write(["row"]);
    await log.close();
    await store.waiting("s1").add("turn", {});
  }
  await a.remove("s1");
  const count = async (table: string): Promise<unknown> =>
    (await db.sql(`select tenant, count(*)::int as n from s.${table} group by tenant`)).map(
      ({ tenant, n }) => [tenant, n],
    );
  for (const table of ["sessions", "events", "blobs", "live", "inbox"])
    expect([table, await count(table)]).toEqual([table, [["b", 1]]]);
  const reader = await openToRead(b);
  expect(messagesOf(reader.events)).toEqual(["event"]);
});

const followed = async (store: Store): Promise<AsyncIterator<LogChange>> => {
  const reader = await openToRead(store);
  const end = new AbortController();
  afterTest(() => end.abort());
  return reader.changes(end.signal)[Symbol.asyncIterator]();
};

const collect = async (changes: AsyncIterator<LogChange>, last: string): Promise<readonly string[]> => {
  const all: string[] = [];
  while (!all.includes(last)) {
    const { value, done } = await changes.next();
    if (done === true) break;
    all.push(...value.rows, ...messagesOf(value.events));
  }
  return all;
};

test("blobs, scratch rows and changes are each tenant's own", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await ofA.append([notice("a")]);
  await ofB.append([notice("b")]);
  const name = await ofA.putBlob(Buffer.from("secret"));
  expect([await ofB.getBlob(name), (await ofA.getBlob(name))?.length]).toEqual([undefined, 6]);
  ofA.scratch.write(["row of a"]);
  ofB.scratch.write(["row of b"]);
  expect([await ofA.scratch.rows(), await ofB.scratch.rows()]).toEqual([["row of a"], ["row of b"]]);

  // Followed by one watcher, in one statement.
  const [seenA, seenB] = [await followed(elsewhere.a), await followed(elsewhere.b)];
  const first = [collect(seenA, "row of a"), collect(seenB, "row of b")];
  expect(await Promise.all(first)).toEqual([["row of a"], ["row of b"]]);
  ofB.scratch.clear();
  ofB.scratch.write(["second of b"]);
  expect(await collect(seenB, "second of b")).toEqual(["second of b"]);
  await ofB.append([notice("last of b")]);
  await ofA.append([notice("last of a")]);
  expect([await collect(seenA, "last of a"), await collect(seenB, "last of b")]).toEqual([
    ["last of a"],
    ["last of b"],
  ]);
  expect(await ofA.scratch.rows()).toEqual(["row of a"]);
  // Blobs of a writer that was overtaken in its own tenant only.
  await db.sql("update s.sessions set fence = fence + 1 where tenant = 'b'");
  await ofA.putBlob(Buffer.from("more"));
  expect(await codeOf(ofB.putBlob(Buffer.from("more")))).toBe("session_fenced");
});

test("refresh: a reader gets the events of its own tenant", async () => {
  const db = await database();
  const { a, b, elsewhere } = tenantsOf(db);
  const [ofA, ofB] = [await openToWrite(a), await openToWrite(b)];
  await ofA.append([notice("a")]);
  await ofB.append([notice("b")]);
  const readers = [await openToRead(elsewhere.a), await openToRead(elsewhere.b)];
  await ofA.append([notice("a2"), notice("a3")]);
  const news = await Promise.all(readers.map((reader) => reader.refresh()));
  expect(news.map(messagesOf)).toEqual([["a2", "a3"], []]);
  expect(await Promise.all(readers.map((reader) => reader.hasWriter()))).toEqual([true, true]);
  await ofA.close();
  expect(await Promise.all(readers.map((reader) => reader.hasWriter()))).toEqual([false, true]);
});
