/** A session of the library on a shared store: restored databases, hand-over, and a writer that was overtaken. */

import { describe, expect, test } from "vitest";

import { type LoggedEvent, type Session } from "../../src/index.ts";
import type { Log, Store } from "../../src/runtime/log/index.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { scriptedAgent, type ServedOptions } from "../server/server-fixture.ts";
import { type Database, database } from "./fixture.ts";
import { begins, expire, openToWrite, proxiedDatabase } from "./nodes.ts";

async function opened(
  db: Database,
  options: ServedOptions,
): Promise<{ readonly session: Session; readonly store: Store }> {
  const store = { ...db.store() };
  const { agent } = await scriptedAgent({ permissions: "auto", ...options, store });
  return { session: await agent.open({ id: "s1", store }), store };
}

async function eventsOf(db: Database): Promise<readonly LoggedEvent[]> {
  const log: Log = await db.store().open("s1", { mode: "read" });
  await log.close();
  return log.events;
}

/** A session whose turn is in a tool that only the signal ends. */
async function inTool(
  db: Database,
): Promise<{ readonly session: Session; readonly result: Promise<unknown> }> {
  const begun = gate();
  const hold = anyTool("hold", (_input, { signal }) => {
    begun.open();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("stopped"));
    });
  });
  const { session } = await opened(db, { tools: [hold], script: [{ output: [call("hold")] }] });
  const result = session.send("go").result();
  await begun.promise;
  return { session, result };
}

const dead = (db: Database) => db.sql("update s.nodes set lease_until = now() - interval '1 s'");

describe("a session that was overtaken", () => {
  test("ends its turn as interrupted, stops its tools and writes nothing more", async () => {
    const db = await database();
    const { session, result } = await inTool(db);
    await dead(db);
    const { session: next } = await opened(db, { script: [{ output: [say("Mine now.")] }] });
    await next.send("hello").result();
    const before = await eventsOf(db);
    await expect(session.rename("late")).rejects.toMatchObject({ code: "session_fenced" });
    expect(await result).toMatchObject({ status: "interrupted", error: { code: "session_fenced" } });
    expect(await eventsOf(db)).toEqual(before);
    expect(before.filter(({ type }) => type === "turn_end")).toMatchObject([
      { status: "interrupted" },
      { status: "completed" },
    ]);
    await session.close();
    await next.close();
  });
});

test("a message to a session whose database is away fails, and nothing else does", async () => {
  const db = await proxiedDatabase();
  await openToWrite(db.store({ name: "gone" })).then((log) =>
    log.append([begins("left open")], { turn: "begin" }),
  );
  await expire(db, "gone");
  const store = { ...db.proxied({ leaseMs: 1000 }) };
  const { agent } = await scriptedAgent({ store });
  const session = await agent.open({ id: "s1", store });
  expect(session.interrupted).toBe(true);
  const accept = db.proxy.refuse();
  db.proxy.cut();
  // The turn that was left open has to be read before a new one can begin.
  expect(await session.send("hello").result()).toMatchObject({
    steps: 0,
    error: { code: expect.stringMatching(/^(?:store_unreachable|session_fenced)$/) as string },
  });
  expect(session.busy).toBe(false);
  accept();
  await session.close();
});

describe("a database that was restored", () => {
  test("has its open turn closed with the first opening, and every call of it counts as started", async () => {
    const db = await database();
    await inTool(db);
    await dead(db);
    // As a restore would leave it: the tool had begun, but the log does not say so.
    const [row] = await db.sql(
      'select max(seq)::int as seq from s.events where line like \'%"type":"tool_start"%\'',
    );
    await db.sql("delete from s.events where seq >= $1", [row?.["seq"]]);
    await db.sql("update s.sessions set next_seq = $1", [row?.["seq"]]);
    await db.sql("update s.store set system_id = 1");
    let ran = 0;
    const tools = [anyTool("hold", () => (ran += 1), { idempotent: true })];
    const { session } = await opened(db, { tools, script: [{ output: [say("Go on.")] }] });
    const events = await eventsOf(db);
    expect(events.filter(({ type }) => type === "tool_result")).toMatchObject([
      { status: "outcome_unknown" },
    ]);
    expect(events.slice(-2)).toMatchObject([
      { type: "turn_end", status: "interrupted" },
      { type: "notice", code: "store_restored" },
    ]);
    expect(session.interrupted).toBe(false);
    expect(() => session.resume()).toThrow(expect.objectContaining({ code: "store_restored" }) as Error);
    expect(() => session.resume()).toThrow(expect.objectContaining({ code: "nothing_to_resume" }) as Error);
    expect(await session.send("go on").result()).toMatchObject({ status: "completed", text: "Go on." });
    expect(ran).toBe(0);
    await session.close();
    const { session: again } = await opened(db, {});
    expect((await eventsOf(db)).filter((event) => event.type === "notice")).toHaveLength(1);
    await again.close();
  });

  test("is noticed when its session is acquired, by a node that has not renewed its lease since", async () => {
    const db = await database();
    await inTool(db);
    const store = { ...db.store({ name: "second" }) };
    const first = await store.open("other", { mode: "write" }); // this node knows the database as it was
    await dead(db);
    await db.sql("update s.nodes set lease_until = now() + interval '1 hour' where name = $1", [
      store.shared?.node,
    ]);
    await db.sql("update s.store set system_id = 1");
    const log = await store.open("s1", { mode: "write" });
    expect(log.restored).toBe(true);
    expect(first.lost.aborted).toBe(true);
    await log.close();
  });

  test("ends every lease of before, so a writer from before writes nothing more", async () => {
    const db = await database();
    const store = db.store({ leaseMs: 600 });
    const log = await store.open("s1", { mode: "write" });
    await log.append([{ type: "notice", code: "test", message: "before" }]);
    await db.sql("update s.store set system_id = 1");
    await expect.poll(() => log.lost.aborted).toBe(true);
    expect(log.lost.reason).toMatchObject({ code: "session_fenced" });
    const next = await db.store().open("s1", { mode: "write" });
    expect(next.restored).toBe(true);
    await next.append([{ type: "notice", code: "test", message: "after" }]);
    await next.close();
    const last = await db.store().open("s1", { mode: "write" });
    expect([last.restored, last.events.length]).toEqual([false, 2]);
    await last.close();
  });
});

describe("a session that is handed over", () => {
  test("keeps its turn open, writes nothing after the seal, and another goes on with it", async () => {
    const db = await database();
    const { session, result } = await inTool(db);
    await session.close(undefined, "leave");
    expect(await result).toMatchObject({ status: "interrupted", error: { code: "session_handed_over" } });
    const left = await eventsOf(db);
    expect(left.at(-1)).toMatchObject({ type: "tool_start" });
    expect(
      await db.sql("select holder, open_turn is not null as open, wake_at <= now() as wakes from s.sessions"),
    ).toEqual([{ holder: null, open: true, wakes: true }]);
    const { session: next } = await opened(db, { script: [{ output: [say("Mine now.")] }] });
    expect(await next.resume().result()).toMatchObject({ status: "completed", text: "Mine now." });
    await next.close();
  });
});

test("createAgent opens a session on a PostgreSQL store by itself", async () => {
  const db = await database();
  const store = db.store();
  const { agent } = await scriptedAgent({ script: [{ output: [say("Hello.")] }] });
  const session = await agent.open({ store });
  expect(await session.send("hi").result()).toMatchObject({ status: "completed", text: "Hello." });
  expect(session.location).toBe("the PostgreSQL store");
  await session.close();
  const listed: string[] = [];
  for await (const { id } of agent.sessions(store)) listed.push(id);
  expect(listed).toEqual([session.id]);
});
