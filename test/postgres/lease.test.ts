/** Who may write a session: leases of nodes by the clock of the database, acquisition by compare-and-swap, takeover. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { expect, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/support/index.ts";
import type { Log } from "../../src/runtime/log/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Database, database } from "./fixture.ts";
import {
  codeOf,
  engine,
  errorOf,
  expire,
  messagesIn,
  messagesOf,
  movable,
  notice,
  openToRead,
  openToWrite,
  proxiedDatabase,
  rowOf,
} from "./nodes.ts";

/** A node's clock that is wrong by this much. */
const wrongBy = (ms: number): Clock => ({
  now: () => systemClock.now() + ms,
  monotonic: () => systemClock.monotonic() + ms,
  sleep: (wait, signal) => systemClock.sleep(wait, signal),
});

const HOUR = 3_600_000;

const leaseOf = async (db: Database, name: string): Promise<number> => {
  const [row] = await db.sql(
    "select extract(epoch from lease_until - clock_timestamp())::float8 * 1000 as ms from s.nodes where name = $1",
    [name],
  );
  return Number(row?.["ms"]);
};

test.each([
  ["fast", HOUR],
  ["slow", -HOUR],
])(
  "a node whose clock is an hour %s holds its sessions as long as any other, and takes none early",
  async (_how, wrong) => {
    const db = await database();
    const [strange, sound] = [
      db.store({ name: "strange", clock: wrongBy(wrong) }),
      db.store({ name: "sound" }),
    ];
    const theirs = await openToWrite(strange, "theirs");
    const ours = await openToWrite(sound, "ours");
    await theirs.append([notice("a")]);
    await ours.append([notice("a")]);
    const left = await leaseOf(db, "strange");
    expect([left > 10_000, left <= 15_000]).toEqual([true, true]);
    expect(await codeOf(sound.open("theirs", { mode: "write" }))).toBe("session_locked");
    expect(await codeOf(strange.open("ours", { mode: "write" }))).toBe("session_locked");
    await engine(strange).node.renew();
    expect(await leaseOf(db, "strange")).toBeLessThanOrEqual(15_000);
    await expire(db, "strange");
    await expire(db, "sound");
    // The clock of the database decides, for both alike.
    await openToWrite(strange, "ours");
    await openToWrite(sound, "theirs");
    expect([await codeOf(theirs.append([notice("b")])), await codeOf(ours.append([notice("b")]))]).toEqual([
      "session_fenced",
      "session_fenced",
    ]);
  },
);

test("an expired lease is never renewed, even if nobody has taken anything over", async () => {
  const db = await database();
  const store = db.store({ name: "web-1" });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  await expire(db, "web-1");
  expect(await errorOf(engine(store).node.renew())).toMatchObject({
    code: "session_fenced",
    message: expect.stringContaining("the lease of this node ran out"),
  });
  expect(await leaseOf(db, "web-1")).toBeLessThan(-50_000);
  expect([log.lost.aborted, await codeOf(log.append([notice("b")]))]).toEqual([true, "session_fenced"]);
  expect(await messagesIn(db)).toEqual(["a"]);
});

test("renewals keep the sessions of a node, however long", async () => {
  const db = await database();
  const store = db.store({ name: "web-1", leaseMs: 800 });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const began = await db.sql("select lease_until from s.nodes where name = 'web-1'");
  const renewed = async (): Promise<unknown> =>
    (
      await db.sql(
        "select lease_until > $1::timestamptz + interval '2 s' as much from s.nodes where name = 'web-1'",
        [began[0]?.["lease_until"]],
      )
    )[0]?.["much"];
  await expect.poll(renewed).toBe(true);
  expect(await codeOf(db.store().open("s1", { mode: "write" }))).toBe("session_locked");
  await log.append([notice("b")]);
  expect([await messagesIn(db), engine(store).node.deaths]).toEqual([["a", "b"], 0]);
});

test("of eight nodes that race for a session there is one winner, 200 times in a row", async () => {
  const db = await database();
  const racers = Array.from({ length: 8 }, (_, n) => db.store({ name: `web-${n}` }));
  const made = await openToWrite(db.store());
  await made.append([notice("made")]);
  await made.close();
  const winners: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    // Held by a node that is gone.
    await db.sql("update s.sessions set holder = gen_random_uuid()");
    const won = await Promise.all(
      racers.map((store) => store.open("s1", { mode: "write" }).catch((error: unknown) => error)),
    );
    const logs = won.filter((one): one is Log => one instanceof Object && "append" in one);
    expect(logs.length).toBe(1);
    for (const one of won) if (one instanceof Error) expect(one).toMatchObject({ code: "session_locked" });
    winners.push(racers[won.indexOf(logs[0])]?.shared?.node ?? "");
    await logs[0]?.append([notice(`round ${round}`)]);
    await logs[0]?.close();
  }
  const reader = await openToRead(db.store());
  expect(messagesOf(reader.events)).toEqual(["made", ...winners.map((_, round) => `round ${round}`)]);
  expect(new Set(reader.events.map(({ epoch }) => epoch)).size).toBe(201);
  expect(await rowOf(db)).toMatchObject({ fence: "201", next_seq: "201", holder: null });
});

test("a process that was stopped beyond its lease finds another writer and writes nothing", async () => {
  const db = await database();
  const program = join(import.meta.dirname, "hold-child.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, db.url, "s1", "stopped", "800"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  afterTest(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => (await lines.next()).value;
  expect(await next()).toBe("open");
  child.stdin.write("before\n");
  expect(await next()).toBe("written before");
  child.kill("SIGSTOP");
  const log = await openToWrite(db.store({ name: "web-2" }), "s1", 60_000);
  await log.append([notice("taken over")]);
  child.stdin.write("after\n");
  child.kill("SIGCONT");
  const told = [await next(), await next()].map(String);
  expect(told.toSorted()).toEqual(["lost session_fenced", "refused session_fenced"]);
  expect(await messagesIn(db)).toEqual(["before", "taken over"]);
  expect(log.lost.aborted).toBe(false);
});

test("a writer acts until a fifth of its lease is left, and asks the database first after that", async () => {
  const db = await proxiedDatabase();
  const clock = movable();
  const store = db.proxied({ clock });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const { node } = engine(store);
  let renewals = 0;
  db.proxy.onStatement(({ name }) => void (renewals += name.endsWith("_renew") ? 1 : 0));
  await node.renew();
  clock.ahead = 11_000;
  await log.assertWriter();
  expect([node.mayAct, renewals]).toEqual([true, 1]);
  clock.ahead = 12_500; // 2.5 of 15 s are left, less than a fifth
  expect(node.mayAct).toBe(false);
  await log.assertWriter();
  expect([node.mayAct, renewals]).toEqual([true, 2]);
  clock.ahead += 12_500;
  await expire(db, node.name);
  expect(await codeOf(log.assertWriter())).toBe("session_fenced");
  expect(log.lost.aborted).toBe(true);
});

test("a writer whose own deadline has passed does not act, whatever the database would say", async () => {
  const db = await proxiedDatabase();
  const clock = movable();
  const store = db.proxied({ clock });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  clock.ahead = 15_001;
  let statements = 0;
  db.proxy.onStatement(() => void (statements += 1));
  expect(await codeOf(log.assertWriter())).toBe("session_fenced");
  expect([log.lost.aborted, engine(store).node.deaths, statements]).toEqual([true, 1, 0]);
});

test("a node that dies loses all its logs, and goes on under a new id", async () => {
  const db = await database();
  const store = db.store({ name: "web-1" });
  const logs = [await openToWrite(store, "s1"), await openToWrite(store, "s2")];
  for (const log of logs) await log.append([notice("a")]);
  const { node } = engine(store);
  const first = node.id;
  await expire(db, "web-1");
  await node.renew().catch(() => undefined);
  expect(logs.map(({ lost }) => lost.aborted)).toEqual([true, true]);
  expect([node.deaths, node.held, node.id]).toEqual([1, 0, undefined]);
  const again = await openToWrite(store, "s1");
  await again.append([notice("b")]);
  expect(node.id).not.toBe(first);
  expect(await rowOf(db, "s1")).toMatchObject({ holder: node.id });
  expect(await codeOf(logs[1]?.append([notice("late")]) as Promise<unknown>)).toBe("session_fenced");
  expect(await messagesIn(db, "s1")).toEqual(["a", "b"]);
});

test("a writer of a session that was removed and made again does not write into the new one", async () => {
  const db = await database();
  const [one, two] = [db.store({ name: "web-1" }), db.store({ name: "web-2" })];
  const old = await openToWrite(one);
  await old.append([notice("old")]);
  const reader = await openToRead(one);
  const before = await rowOf(db);
  await expire(db, "web-1");
  await two.remove("s1");
  const log = await openToWrite(two);
  await log.append([notice("new")]);
  // Fence and number of events are the same again. Only the holder differs.
  expect(await rowOf(db)).toMatchObject({ fence: before["fence"], next_seq: before["next_seq"] });
  expect(await codeOf(old.putBlob(Buffer.from("late")))).toBe("session_fenced");
  expect(await codeOf(old.append([notice("late")]))).toBe("session_fenced");
  await old.close();
  expect(await messagesIn(db)).toEqual(["new"]);
  expect(await codeOf(reader.refresh())).toBe("log_replaced");
  await log.append([notice("goes on")]);
  expect(await db.sql("select name from s.blobs")).toEqual([]);
});

test("waiting for a session ends when it is released, when its node dies, or when the time is over", async () => {
  const db = await database();
  const [one, two] = [db.store({ name: "web-1" }), db.store({ name: "web-2" })];
  const first = await openToWrite(one);
  await first.append([notice("a")]);
  expect(await errorOf(two.open("s1", { mode: "write", wait: 120 }))).toMatchObject({
    code: "session_locked",
    message: expect.stringContaining("this process"), // both nodes are in it
  });
  const waiting = two.open("s1", { mode: "write", wait: 60_000 });
  await first.close();
  const second = await waiting;
  expect(messagesOf(second.events)).toEqual(["a"]);
  const again = one.open("s1", { mode: "write", wait: 60_000 });
  await expire(db, "web-2");
  const third = await again;
  await third.append([notice("b")]);
  expect(await codeOf(second.append([notice("late")]))).toBe("session_fenced");
  await third.close();
});

test("the holder's name is told to who may not write", async () => {
  const db = await database();
  const log = await openToWrite(db.store({ name: "web-1" }));
  await log.append([notice("a")]);
  // As another process sees it.
  await db.sql("update s.nodes set id = gen_random_uuid(), name = 'web-9'");
  await db.sql("update s.sessions set holder = (select id from s.nodes)");
  expect(await errorOf(db.store().open("s1", { mode: "write" }))).toMatchObject({
    code: "session_locked",
    message: expect.stringContaining("node web-9"),
  });
});
