/**
 * What an append may meet: another writer, a lost answer, a full disk, a server that stops. It is written once or not at
 * all, and its writer knows which.
 */

import { expect, test } from "vitest";

import type { Log } from "../../src/runtime/log/index.ts";
import { type Database, database } from "./fixture.ts";
import {
  begins,
  codeOf,
  engine,
  errorOf,
  expire,
  foreignNode,
  messagesIn,
  messagesOf,
  notice,
  openToRead,
  openToWrite,
  proxiedDatabase,
  type ProxiedDatabase,
  rowOf,
} from "./nodes.ts";

const refusals = [
  ["fence", "update s.sessions set fence = fence + 1"],
  ["holder", "update s.sessions set holder = $1"],
  ["seq", "update s.sessions set next_seq = next_seq + 1"],
] as const;

test.each(refusals)(
  "an append is refused if the %s alone is not what its writer knows",
  async (what, change) => {
    const db = await database();
    const log = await openToWrite(db.store());
    await log.append([notice("a")]);
    await db.sql(change, what === "holder" ? [await foreignNode(db, "web-2")] : []);
    const before = await rowOf(db);
    const lost = new Promise((resolve) => {
      log.lost.addEventListener("abort", () => resolve(log.lost.reason), { once: true });
    });
    const error = await errorOf(log.append([notice("b")]));
    expect(error.code).toBe("session_fenced");
    if (what === "holder") expect(error.message).toContain("node web-2 goes on with it");
    expect(await lost).toBe(error);
    expect([await messagesIn(db), await rowOf(db)]).toEqual([["a"], before]);
    expect(messagesOf(log.events)).toEqual(["a"]);
  },
);

test("a writer that was refused tries nothing more, and closing it changes nothing", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.proxied());
  await log.append([notice("a")]);
  await db.sql("update s.sessions set fence = fence + 1, holder = null");
  const waiting = [log.append([notice("b")]), log.append([notice("c")])];
  expect(await Promise.all(waiting.map(codeOf))).toEqual(["session_fenced", "session_fenced"]);
  const seen: string[] = [];
  db.proxy.onStatement(({ text }) => seen.push(text));
  expect(await codeOf(log.append([notice("d")]))).toBe("session_fenced");
  expect(await codeOf(log.append([], { durable: true }))).toBe("session_fenced");
  expect(await codeOf(log.assertWriter())).toBe("session_fenced");
  expect(await codeOf(log.putBlob(Buffer.from("x")))).toBe("session_fenced");
  expect(await log.hasWriter()).toBe(false);
  await log.close();
  expect(seen).toEqual([]);
  expect(await messagesIn(db)).toEqual(["a"]);
});

/** Both connections for appends are busy until `go` is called, so what is appended meanwhile goes into one statement. */
async function whileBusy(
  { proxy }: ProxiedDatabase,
  busy: readonly Log[],
): Promise<{ readonly go: () => Promise<unknown> }> {
  const holds = busy.map(() => proxy.hold("_append"));
  const appends = busy.map((log) => log.append([notice("busy")]));
  for (const { reached } of holds) await reached;
  return {
    go: () => {
      for (const hold of holds) hold.release();
      return Promise.all(appends);
    },
  };
}

async function eightLogs(db: ProxiedDatabase) {
  const store = db.proxied();
  const logs: Log[] = [];
  for (let n = 0; n < 8; n += 1) {
    const log = await openToWrite(store, `s${n}`);
    await log.append([notice("first")]);
    logs.push(log);
  }
  return { store, busy: logs.slice(6), group: logs.slice(0, 6) };
}

test("one refused member of a group takes nobody down with it", async () => {
  const db = await proxiedDatabase();
  const { store, busy, group } = await eightLogs(db);
  const { counters } = engine(store).appender;
  const { go } = await whileBusy(db, busy);
  await db.sql("update s.sessions set fence = fence + 1 where id = 's3'");
  let statements = 0;
  db.proxy.onStatement(({ name }) => (statements += name.includes("_append") ? 1 : 0));
  const before = { ...counters };
  const outcomes = group.map((log) => codeOf(log.append([notice("second"), notice("third")])));
  await go();
  const settled = await Promise.all(outcomes);
  expect(settled.map((one) => (typeof one === "string" ? one : "written"))).toEqual([
    "written",
    "written",
    "written",
    "session_fenced",
    "written",
    "written",
  ]);
  // Six sessions in one statement.
  expect([statements, counters.batches - before.batches, counters.appends - before.appends]).toEqual([
    1, 1, 6,
  ]);
  for (const [n, log] of group.entries()) {
    const expected = n === 3 ? ["first"] : ["first", "second", "third"];
    expect([await messagesIn(db, `s${n}`), messagesOf(log.events), log.lost.aborted]).toEqual([
      expected,
      expected,
      n === 3,
    ]);
  }
});

test("a member of a group whose place is taken is refused, and the others are sent one by one", async () => {
  const db = await proxiedDatabase();
  const { store, busy, group } = await eightLogs(db);
  const { counters } = engine(store).appender;
  const { go } = await whileBusy(db, busy);
  await db.sql("insert into s.events (tenant, session, seq, line) values ('', 's3', 1, 'a line of nobody')");
  const before = { ...counters };
  const outcomes = group.map((log) => codeOf(log.append([notice("second")])));
  await go();
  const settled = await Promise.all(outcomes);
  expect(settled.filter((one) => typeof one === "string")).toEqual(["session_fenced"]);
  expect([group[3]?.lost.aborted, counters.batches - before.batches]).toEqual([true, 7]);
  for (const n of [0, 1, 2, 4, 5]) expect(await messagesIn(db, `s${n}`)).toEqual(["first", "second"]);
  expect(await rowOf(db, "s3")).toMatchObject({ next_seq: "1" });
});

test("appends that wait together go out in the order of the calls, in one statement", async () => {
  const db = await proxiedDatabase();
  const { busy, group } = await eightLogs(db);
  const { go } = await whileBusy(db, busy);
  const appends = group
    .slice(0, 1)
    .flatMap((log) => ["b", "c", "d"].map((message) => log.append([notice(message)])));
  let statements = 0;
  db.proxy.onStatement(({ name }) => (statements += name.includes("_append") ? 1 : 0));
  await go();
  await Promise.all(appends);
  expect([await messagesIn(db, "s0"), statements]).toEqual([["first", "b", "c", "d"], 1]);
});

const losses = [
  ["once, with the connection", 1, "close"],
  ["twice in a row, with the connection", 2, "close"],
  ["five times in a row, with the connection", 5, "close"],
  ["once, without a sign", 1, "silent"],
] as const;

test.each(losses)(
  "an append whose answer is lost %s succeeds, and is written once",
  async (_, times, after) => {
    const db = await proxiedDatabase();
    const store = db.proxied(after === "silent" ? { leaseMs: 3000 } : {});
    const log = await openToWrite(store);
    await log.append([notice("a")]);
    const lost = db.proxy.swallow("_append", { times, after });
    const written = await log.append([notice("b"), notice("c")]);
    expect(written.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(lost.count).toBe(times);
    expect(engine(store).appender.counters).toMatchObject({ repeated: times, foundWritten: 1 });
    await log.append([notice("d")]);
    const reader = await openToRead(db.store());
    expect(reader.events).toEqual(log.events);
    expect(messagesOf(reader.events)).toEqual(["a", "b", "c", "d"]);
    expect(await reader.lines()).toEqual(await log.lines());
    expect(log.lost.aborted).toBe(false);
  },
);

test("a lost answer in a group is made good for each of its members", async () => {
  const db = await proxiedDatabase();
  const { busy, group } = await eightLogs(db);
  const { go } = await whileBusy(db, busy);
  const appends = group.map((log) => log.append([notice("second")]));
  // The answers of the two that were held do not count: only the group's is lost.
  const lost = db.proxy.swallow("_append");
  await go();
  await Promise.all(appends);
  expect(lost.count).toBe(1);
  for (const [n, log] of group.entries()) {
    expect(await messagesIn(db, `s${n}`)).toEqual(["first", "second"]);
    expect(messagesOf(log.events)).toEqual(["first", "second"]);
  }
});

test("the answers to the questions after a lost answer may be lost too", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.proxied());
  await log.append([notice("a")]);
  const lost = ["_append", "_look", "_lines"].map((name) => db.proxy.swallow(name));
  await log.append([notice("b")]);
  expect(lost.map(({ count }) => count)).toEqual([1, 1, 1]);
  expect(await messagesIn(db)).toEqual(["a", "b"]);
});

test("an append is not taken for its own because another writer wrote at the same place", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.proxied());
  await log.append([notice("a")]);
  let sent = 0;
  const first = db.proxy.hold(({ name }) => name.includes("_append") && ++sent === 1);
  const append = codeOf(log.append([notice("b")]));
  await first.reached;
  // Same fence, same holder, same number of events: only the bytes tell.
  const [{ line } = {}] = await db.sql("select line from s.events where seq = 0");
  await db.sql("insert into s.events (tenant, session, seq, line) values ('', 's1', 1, $1)", [line]);
  await db.sql("update s.sessions set next_seq = 2");
  first.release();
  expect(await append).toBe("session_fenced");
  expect(await messagesIn(db)).toEqual(["a", "a"]);
});

test("a writer that is overtaken between a lost answer and its repeat is fenced; the event is there once", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.proxied({ name: "web-1" }));
  await log.append([notice("a")]);
  let sent = 0;
  const lost = db.proxy.swallow("_append");
  const repeat = db.proxy.hold(({ name }) => name.includes("_append") && ++sent === 2);
  const append = errorOf(log.append([notice("b")]));
  await lost.done;
  await repeat.reached;
  await expire(db, "web-1");
  const next = await openToWrite(db.store({ name: "web-2" }));
  expect(messagesOf(next.events)).toEqual(["a", "b"]);
  await next.append([notice("c")]);
  repeat.release();
  expect(await append).toMatchObject({
    code: "session_fenced",
    message: expect.stringContaining("node web-2 goes on with it"),
  });
  expect(log.lost.aborted).toBe(true);
  expect(await messagesIn(db)).toEqual(["a", "b", "c"]);
  expect(messagesOf(log.events)).toEqual(["a"]);
});

test.each(["statements", "answers"] as const)(
  "a writer that does not learn what became of its append until its lease is over is lost (no %s)",
  async (direction) => {
    const db = await proxiedDatabase();
    const log = await openToWrite(db.proxied({ leaseMs: 800, name: "web-1" }));
    await log.append([notice("a")]);
    const heal = db.proxy.silence(direction);
    const waiting = [log.append([notice("b")]), log.append([notice("c")])];
    expect(await Promise.all(waiting.map(codeOf))).toEqual(["session_fenced", "session_fenced"]);
    expect(log.lost.aborted).toBe(true);
    heal("lose");
    expect(await codeOf(log.append([notice("d")]))).toBe("session_fenced");
    // Nobody may say whether it is there. What comes after it is not.
    expect([["a"], ["a", "b"]]).toContainEqual(await messagesIn(db));
    // The server may have heard of the node after the node heard of the server.
    const next = await openToWrite(db.store({ name: "web-2" }), "s1", 10_000);
    await next.append([notice("e")]);
    expect(next.events.map(({ seq }) => seq)).toEqual(next.events.map((_, index) => index));
  },
);

test("a first copy that reaches the server after the repeat changes nothing", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ leaseMs: 3000 });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  // The server does not see the first copy until the client has given it up and the repeat is written.
  const late = db.proxy.hold("_append");
  const append = log.append([notice("b")]);
  await late.reached;
  await append;
  expect(engine(store).appender.counters.repeated).toBe(1);
  const arrived = new Promise<void>((resolve) => {
    db.proxy.onAnswer(({ name }) => void (name.includes("_append") && resolve()));
  });
  late.release();
  await arrived;
  await log.append([notice("c")]);
  expect(await messagesIn(db)).toEqual(["a", "b", "c"]);
});

/** The server refuses a line, for good, as it would with a broken index or without memory. */
const refuseLines = ({ sql }: Database): Promise<unknown> =>
  sql("alter table s.events add constraint refused check (line not like '%poison%')");

test("an append that the server refuses for good takes nobody else of its group down with it", async () => {
  const db = await proxiedDatabase();
  await refuseLines(db);
  const { busy, group } = await eightLogs(db);
  const { go } = await whileBusy(db, busy);
  const outcomes = group.map((log, n) => codeOf(log.append([notice(n === 3 ? "poison" : "second")])));
  await go();
  const settled = await Promise.all(outcomes);
  expect(settled.filter((one) => typeof one === "string")).toEqual(["log_failed"]);
  expect(group.filter(({ lost }) => lost.aborted)).toEqual([group[3]]);
});

test("a session whose log the server refused is left to other nodes, after a while and not for ever", async () => {
  const db = await database();
  await refuseLines(db);
  const store = db.store({ name: "web-1", pool: "web" });
  const log = await openToWrite(store);
  await log.append([begins("turn")], { turn: "begin" });
  expect(await codeOf(log.append([notice("poison")]))).toBe("log_failed");
  await log.close();
  const [row] = await db.sql(
    "select holder, takeovers, wake_at > now() + interval '5 s' as waits from s.sessions",
  );
  expect(row).toEqual({ holder: null, takeovers: 1, waits: true });
  expect((await openToWrite(db.store({ name: "web-2", pool: "web" }))).takeovers).toBe(1);
});
