/**
 * What is asked of a session that any node may hold. Whatever the order of things, an admission is never without either
 * a living holder that learns of it or a row that other nodes find.
 */

import pg from "pg";
import { describe, expect, inject, test } from "vitest";

import type { Log, Store } from "../../src/runtime/log/index.ts";
import { statementsFor } from "../../src/runtime/postgres/statements.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Database, database } from "./fixture.ts";
import {
  begins,
  codeOf,
  ends,
  engine,
  expire,
  foreignNode,
  notice,
  openToWrite,
  proxiedDatabase,
  rowOf,
  shared,
} from "./nodes.ts";

/** A statement in a transaction of its own, on a connection of its own. */
class Actor {
  readonly #client: pg.Client;
  #pid = 0;
  #running: Promise<pg.QueryResult> | undefined;
  #answered = false;

  constructor() {
    this.#client = new pg.Client(inject("postgresUrl"));
    afterTest(() => this.#client.end());
  }

  async begin(): Promise<void> {
    await this.#client.connect();
    const { rows } = await this.#client.query<{ pid: number }>("select pg_backend_pid() as pid");
    this.#pid = rows[0]?.pid ?? 0;
  }

  /** Resolves when the statement is answered, or waits for a lock. */
  async run(db: Database, text: string, values: readonly unknown[]): Promise<"answered" | "waits"> {
    await this.#client.query("begin");
    this.#running = this.#client.query(text, [...values]);
    void this.#running.then(() => (this.#answered = true));
    for (;;) {
      if (this.#answered) return "answered";
      const [row] = await db.sql("select wait_event_type as waits from pg_stat_activity where pid = $1", [
        this.#pid,
      ]);
      if (row?.["waits"] === "Lock") return "waits";
    }
  }

  async commit(): Promise<readonly Record<string, unknown>[]> {
    const result = await this.#running;
    await this.#client.query("commit");
    return (result?.rows ?? []) as Record<string, unknown>[];
  }
}

/** Two transactions of a statement and a commit each. A statement that waits is committed when it has been answered. */
type Order = readonly ("one" | "one commits" | "two" | "two commits")[];

const ORDERS: readonly Order[] = [
  ["one", "one commits", "two", "two commits"],
  ["one", "two", "one commits", "two commits"],
  ["two", "one", "two commits", "one commits"],
  ["two", "two commits", "one", "one commits"],
];

interface Act {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns what both statements answered, and how often one waited for the other. */
async function interleaved(db: Database, order: Order, acts: Record<"one" | "two", Act>) {
  const actors = { one: new Actor(), two: new Actor() };
  for (const actor of Object.values(actors)) await actor.begin();
  const answers: Record<"one" | "two", readonly Record<string, unknown>[]> = { one: [], two: [] };
  let waits = 0;
  for (const step of order) {
    const who = step.startsWith("one") ? "one" : "two";
    if (step.endsWith("commits")) answers[who] = await actors[who].commit();
    else if ((await actors[who].run(db, acts[who].text, acts[who].values)) === "waits") waits += 1;
  }
  return { ...answers, waits };
}

/** A session held by a node of the pool, with a turn that has ended, or one that is open. */
async function held(db: Database, turn: "ended" | "open") {
  const statements = statementsFor(db.schema);
  const holder = await foreignNode(db, "web-1", "web");
  const log = await openToWrite(db.store({ name: "maker", pool: "web" }));
  await log.append(turn === "open" ? [begins("first")] : [begins("first"), ends("first")]);
  await log.close();
  await db.sql("update s.sessions set holder = $1, wake_at = case when $2 then now() end", [
    holder,
    turn === "open",
  ]);
  const { fence, next_seq: next } = await rowOf(db);
  const [{ incarnation } = {}] = await db.sql("select incarnation from s.store");
  const admit: Act = {
    text: statements.admit.text,
    values: ["", "s1", "second", "send", "{}", "web"],
  };
  const release = (openTurn: string): Act => ({
    text: statements.release.text,
    values: ["", "s1", fence, holder, "0", openTurn],
  });
  const rest: Act = { text: statements.rest.text, values: ["", "s1", fence, holder, "0"] };
  /** An append that ends the turn, by a writer that has seen nothing of the inbox. */
  const append: Act = {
    text: statements.append.text,
    values: [
      [""],
      ["s1"],
      [fence],
      [next],
      [1],
      [10],
      [null],
      ["0"],
      [null],
      [1],
      holder,
      incarnation,
      "a line",
      [1],
    ],
  };
  const watcher = shared(db.store({ name: "other", pool: "web" }));
  return { statements, holder, admit, release, rest, append, fence, orphans: () => watcher.orphans(10) };
}

const FOUND = [{ tenant: "", id: "s1" }];

describe.each(ORDERS.map((order) => ({ order, name: order.join(", ") })))(
  "in the order: $name",
  ({ order }) => {
    const ways = ["wake", "keep"];
    test.each(ways)("no admission is lost beside a release (open turn: %s)", async (openTurn) => {
      const db = await database();
      const { admit, release, orphans } = await held(db, "ended");
      const { two, waits } = await interleaved(db, order, { one: release(openTurn), two: admit });
      expect(waits).toBe(order[1]?.endsWith("commits") === true ? 0 : 1);
      expect(await rowOf(db)).toMatchObject({ holder: null, asked: "1" });
      // Who is told that there is a holder was first, so the release has seen it.
      expect(two).toMatchObject([{ alive: order[0] === "two" }]);
      expect(await orphans()).toEqual(FOUND);
    });

    test.each(ways)("no admission is lost beside a release of an open turn: %s", async (openTurn) => {
      const db = await database();
      const { admit, release, orphans } = await held(db, "open");
      await interleaved(db, order, { one: release(openTurn), two: admit });
      expect(await orphans()).toEqual(FOUND);
    });

    test("no admission is lost beside the decision to leave an open turn alone", async () => {
      const db = await database();
      const { admit, rest, orphans } = await held(db, "open");
      await interleaved(db, order, { one: rest, two: admit });
      await expire(db, "web-1");
      expect(await orphans()).toEqual(FOUND);
    });

    test("no admission is lost beside the end of a turn whose node dies then", async () => {
      const db = await database();
      const { admit, append, orphans, holder, statements } = await held(db, "open");
      const { one, two } = await interleaved(db, order, { one: append, two: admit });
      expect([one.length, two]).toMatchObject([1, [{ alive: true, holder_name: "web-1" }]]);
      // While it lives, its holder learns of it: by the answer to the append, or when it asks.
      const [asked] = await db.sql(statements.asked.text.replaceAll(`"${db.schema}".`, "s."), [holder]);
      expect(asked).toMatchObject({ id: "s1", asked: "1" });
      expect(await orphans()).toEqual([]);
      await expire(db, "web-1");
      expect(await orphans()).toEqual(FOUND);
    });

    test("no admission is lost beside a takeover by a node that dies then", async () => {
      const db = await database();
      const { admit, orphans, statements, fence } = await held(db, "ended");
      await expire(db, "web-1");
      const next = await foreignNode(db, "web-2", "web");
      const acquire: Act = { text: statements.acquire.text, values: ["", "s1", fence, next, false, "web"] };
      const { one } = await interleaved(db, order, { one: acquire, two: admit });
      expect(one.length).toBe(1);
      // Either the acquisition says that something was asked, or the number has risen since.
      const { asked } = await rowOf(db);
      expect(asked).toBe("1");
      expect(await db.sql("select key from s.inbox")).toEqual([{ key: "second" }]);
      expect(await orphans()).toEqual([]);
      await expire(db, "web-2");
      expect(await orphans()).toEqual(FOUND);
    });
  },
);

/** A node that holds a session in an open turn, has read its inbox with one waiting turn, and has not begun that turn. */
async function heldUnread(db: Database) {
  const store = db.store({ name: "web-1", pool: "web" });
  const log = await openToWrite(store);
  await log.append([begins("first")], { turn: "begin" });
  const other = shared(db.store({ name: "web-2", pool: "web" }));
  expect(await other.admitTurn("s1", "second", {})).toMatchObject({ holder: "web-1", takesCommands: true });
  expect(await shared(store).commands("s1")).toEqual([]); // from now on it counts as seen
  await log.append([ends("first")], { turn: "end" });
  return { log, store, other };
}

test("a waiting turn that its holder has seen and not begun is found when the holder dies", async () => {
  const db = await database();
  const { other } = await heldUnread(db);
  expect(await other.orphans(10)).toEqual([]);
  await expire(db, "web-1");
  expect(await other.orphans(10)).toEqual(FOUND);
});

test.each(["close", "handOver"] as const)(
  "a waiting turn that its holder has seen and not begun is found after %s",
  async (how) => {
    const db = await database();
    const { log, other } = await heldUnread(db);
    await log[how]?.();
    expect(await other.orphans(10)).toEqual(FOUND);
  },
);

test("a session whose inbox is empty is nobody's to find, however it is left", async () => {
  const db = await database();
  const { log, store, other } = await heldUnread(db);
  await log.append([begins("second")], { turn: "begin" });
  await store.waiting("s1").remove("second");
  await log.append([ends("second")], { turn: "end" });
  expect(await rowOf(db)).toMatchObject({ wake_at: null });
  await log.close();
  expect([await other.orphans(10), await rowOf(db)]).toMatchObject([[], { wake_at: null }]);
});

test("commands that were carried out while no turn ran leave nothing to find", async () => {
  const db = await database();
  const store = db.store({ name: "web-1", pool: "web" });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const other = shared(db.store({ name: "web-2", pool: "web" }));
  await other.admitCommand("s1", { key: "cancel:x", kind: "cancel", body: { turn: "x" } });
  const [command] = await shared(store).commands("s1");
  await shared(store).settleCommands("s1", [command?.key ?? ""]);
  await log.close();
  expect([await other.orphans(10), await rowOf(db)]).toMatchObject([[], { wake_at: null }]);
});

/** A command and a waiting turn of a session that node "web-1" holds. */
async function heldWithInbox(
  db: Database,
): Promise<{ readonly log: Log; readonly store: Store; readonly settle: () => Promise<void> }> {
  const store = db.store({ name: "web-1", pool: "web" });
  const log = await openToWrite(store);
  await log.append([notice("a"), notice("b")]);
  const other = shared(db.store({ name: "web-2", pool: "web" }));
  await other.admitCommand("s1", { key: "cancel:x", kind: "cancel", body: { turn: "x" } });
  await other.admitTurn("s1", "x", {});
  const settle = async (): Promise<void> => {
    await shared(store).settleCommands("s1", ["cancel:x"]);
    await store.waiting("s1").remove("x");
  };
  return { log, store, settle };
}

const keysIn = async ({ sql }: Database): Promise<readonly unknown[]> =>
  (await sql("select key from s.inbox order by n")).map(({ key }) => key);

test("the holder removes what was asked", async () => {
  const db = await database();
  const { settle } = await heldWithInbox(db);
  await settle();
  expect(await keysIn(db)).toEqual([]);
});

test("a node that was deposed removes nothing that was asked", async () => {
  const db = await database();
  const { settle } = await heldWithInbox(db);
  await expire(db, "web-1");
  await openToWrite(db.store({ name: "web-3", pool: "web" }));
  await settle();
  expect(await keysIn(db)).toEqual(["cancel:x", "x"]);
});

test("a node that has left the session removes nothing that was asked", async () => {
  const db = await database();
  const { log, settle } = await heldWithInbox(db);
  await log.close();
  await settle();
  expect(await keysIn(db)).toEqual(["cancel:x", "x"]);
});

test("a node removes nothing that was asked because of an event that a promotion has taken back", async () => {
  const db = await database();
  const { settle } = await heldWithInbox(db);
  await db.sql("update s.sessions set next_seq = 1");
  await settle();
  expect(await keysIn(db)).toEqual(["cancel:x", "x"]);
});

test("a node without a pool leaves what was asked to the nodes of the pool", async () => {
  const db = await database();
  const terminal = db.store({ name: "laptop" });
  const web = shared(db.store({ name: "web-1", pool: "web" }));
  const log = await openToWrite(terminal);
  await log.append([begins("first")], { turn: "begin" });
  expect(await web.admitTurn("s1", "second", {})).toMatchObject({ holder: "laptop", takesCommands: false });
  await log.append([ends("first")], { turn: "end" });
  expect(await web.orphans(10)).toEqual([]);
  await log.close();
  expect(await web.orphans(10)).toEqual(FOUND);
});

test("orphans are sessions of the node's own pool, and none while it leaves or has no pool", async () => {
  const db = await database();
  const [web, batch, none] = ["web", "batch", undefined].map((pool) =>
    db.store({ pool, name: String(pool) }),
  );
  if (web === undefined || batch === undefined || none === undefined) throw new Error("three stores");
  const log = await openToWrite(web);
  await log.append([begins("first")], { turn: "begin" });
  await expire(db, "web");
  const orphans = () => Promise.all([web, batch, none].map((store) => shared(store).orphans(10)));
  expect(await orphans()).toEqual([FOUND, [], []]);
  await shared(web).drain();
  expect(await orphans()).toEqual([[], [], []]);
});

test("a turn that was taken over is not an orphan again until its wait is over", async () => {
  const db = await database();
  const web = shared(db.store({ name: "other", pool: "web" }));
  for (const [taken, seconds] of [
    [0, 0],
    [1, 10],
    [2, 60],
    [3, 60],
  ] as const) {
    const log = await openToWrite(db.store({ name: `web-${taken}`, pool: "web" }));
    if (taken === 0) await log.append([begins("first")], { turn: "begin" });
    expect(log.takeovers).toBe(taken);
    await expire(db, `web-${taken}`);
    const [row] = await db.sql(
      "select round(extract(epoch from wake_at - clock_timestamp()))::int as s from s.sessions",
    );
    expect(Math.abs(Number(row?.["s"]) - seconds)).toBeLessThanOrEqual(5);
    expect(await web.orphans(10)).toEqual(seconds === 0 ? FOUND : []);
    await db.sql("update s.sessions set wake_at = now()");
    expect(await web.orphans(10)).toEqual(FOUND);
  }
});

test("admissions of many nodes have one order, and a repeated one stays what it was", async () => {
  const db = await database();
  const log = await openToWrite(db.store({ name: "web-0", pool: "web" }));
  await log.append([notice("a")]);
  const senders = Array.from({ length: 4 }, (_, n) => db.store({ name: `web-${n + 1}`, pool: "web" }));
  await Promise.all(
    senders.flatMap((store, n) =>
      Array.from({ length: 10 }, (_, m) => shared(store).admitTurn("s1", `t${n}_${m}`, { by: n })),
    ),
  );
  const rows = await db.sql("select key, n::int as n from s.inbox order by n");
  expect(rows.map(({ n }) => n)).toEqual(rows.map((_, index) => index + 1));
  for (const store of senders) {
    const turns = await store.waiting("s1").list();
    expect(turns.map(({ turn }) => turn)).toEqual(rows.map(({ key }) => key));
  }
  const [first] = rows;
  await shared(senders[0] ?? db.store()).admitTurn("s1", String(first?.["key"]), { by: "again" });
  const again = await senders[1]?.waiting("s1").list();
  expect(again?.length).toBe(40);
  expect(again?.[0]).toMatchObject({ turn: first?.["key"], request: { by: expect.any(Number) as number } });
  expect(await rowOf(db)).toMatchObject({ asked: "41" });
});

test("an admission whose answer is lost is made once", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.store({ name: "web-1", pool: "web" }));
  await log.append([notice("a")]);
  const sender = db.proxied({ name: "web-2", pool: "web" });
  const lost = db.proxy.swallow("_admit", { times: 2 });
  expect(await shared(sender).admitTurn("s1", "first", { a: 1 })).toEqual({
    holder: "web-1",
    takesCommands: true,
    wakes: true,
  });
  await shared(sender).admitCommand("s1", { key: "cancel:first", kind: "cancel", body: { turn: "first" } });
  expect(lost.count).toBe(2);
  expect(await sender.waiting("s1").list()).toEqual([{ turn: "first", request: { a: 1 }, cancelled: false }]);
  expect(await db.sql("select key from s.inbox order by n")).toEqual([
    { key: "first" },
    { key: "cancel:first" },
  ]);
});

test.each(["hint", "poll", "append"] as const)(
  "the holder hears of an admission by %s alone",
  async (way) => {
    const db = await proxiedDatabase();
    const store = db.proxied({ name: "web-1", pool: "web" });
    if (way !== "hint") db.proxy.hold('listen "'); // it hears no hints, so it asks more often
    if (way !== "poll") db.proxy.hold("_asked");
    const log = await openToWrite(store);
    await log.append([notice("a")]);
    const heard: string[] = [];
    afterTest(shared(store).onAsked((id, tenant) => void heard.push(`${tenant}/${id}`)));
    const other = db.store({ name: "web-2", pool: "web" });
    const nodes = way === "hint" ? [store, other] : [];
    for (const one of nodes) engine(one).hints.start();
    await expect
      .poll(() => nodes.map((one) => engine(one).hints.state))
      .toEqual(nodes.map(() => "listening"));
    await shared(other).admitTurn("s1", "first", {});
    if (way === "append") {
      expect(heard).toEqual([]);
      await log.append([notice("b")]);
      expect(heard).toEqual(["/s1"]);
    } else await expect.poll(() => heard).toContain("/s1");
  },
);

test("nothing is admitted to a session that does not exist, or to one that is only reserved", async () => {
  const db = await database();
  const store = db.store({ pool: "web" });
  expect(await codeOf(shared(store).admitTurn("nobody", "t", {}))).toBe("session_not_found");
  await openToWrite(db.store());
  expect(await codeOf(shared(store).admitTurn("s1", "t", {}))).toBe("session_not_found");
  expect(await codeOf(store.waiting("s1").add("a:b", {}))).toBe("turn_invalid");
  expect(await db.sql("select * from s.inbox")).toEqual([]);
});
