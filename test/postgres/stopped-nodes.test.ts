/**
 * A node that was stopped for longer than its lease, or that died at a bad moment: what it knew is old, and what it
 * acknowledged holds. Each of these was found by `npm run test:chaos`.
 */

import { expect, test } from "vitest";

import type { Store } from "../../src/index.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { ended, get, post, type Server } from "../server/promise-fixture.ts";
import { servedAlone, type ServedOptions } from "../server/server-fixture.ts";
import { type Database, database } from "./fixture.ts";
import { expire, movable, proxiedDatabase } from "./nodes.ts";
import { eventsIn } from "./served-nodes.ts";

/** A copy of a store is not known to be in the same place, so the nodes act like processes. */
const serve = (store: Store, options: ServedOptions = {}): Promise<Server> =>
  servedAlone({
    permissions: "auto",
    script: [{ output: [say("One.")] }, { output: [say("Two.")] }],
    ...options,
    store: { ...store },
  });

const endsIn = async (db: Database): Promise<readonly unknown[]> =>
  (await eventsIn(db, "s1")).flatMap((event) =>
    event.type === "turn_end" ? [[event.turn, event.status]] : [],
  );

/** Node "one" holds the session, is stopped, and node "two" has taken over and ended turn "second". */
async function stopped(): Promise<{ readonly one: Server; readonly db: Database }> {
  const db = await database();
  const clock = movable();
  const one = await serve(db.store({ name: "one", pool: "test", clock }));
  const two = await serve(db.store({ name: "two", pool: "test" }));
  expect((await post(one.server, "", { id: "s1" })).status).toBe(201);
  await expire(db, "one");
  expect((await post(two.server, "/s1/turns", { input: "two", turn: "second" })).status).toBe(202);
  expect((await ended(two.server, "second")).body).toMatchObject({ result: { status: "completed" } });
  clock.ahead = 20_000; // it wakes beyond its lease, and its timers have not run yet
  return { one, db };
}

test("a node that wakes beyond its lease knows a turn that another node ended meanwhile", async () => {
  const { one } = await stopped();
  expect(await get(one.server, "/s1/turns/second")).toMatchObject({
    status: 200,
    body: { state: "done", result: { status: "completed" } },
  });
});

test("a node that wakes beyond its lease answers a repeated request like the first", async () => {
  const { one, db } = await stopped();
  expect(await post(one.server, "/s1/turns", { input: "two", turn: "second" })).toMatchObject({
    status: 202,
    body: { state: "done", result: { status: "completed" } },
  });
  expect(await endsIn(db)).toEqual([["second", "completed"]]);
});

test("a node that is stopped while it looks for a turn does not say that there is none", async () => {
  const db = await proxiedDatabase();
  const clock = movable();
  const one = await serve(db.proxied({ name: "one", pool: "test", clock }));
  const two = await serve(db.store({ name: "two", pool: "test" }));
  expect((await post(one.server, "", { id: "s1" })).status).toBe(201);
  const held = db.proxy.hold("_inbox");
  const asked = get(one.server, "/s1/turns/second");
  await held.reached;
  await expire(db, "one");
  await post(two.server, "/s1/turns", { input: "two", turn: "second" });
  await ended(two.server, "second");
  clock.ahead = 20_000;
  held.release();
  expect(await asked).toMatchObject({ status: 503, body: { error: { code: "session_fenced" } } });
  expect((await get(one.server, "/s1/turns/second")).status).toBe(200);
});

test("a turn that ends while the inbox is read gets no second end", async () => {
  const db = await proxiedDatabase();
  const [begun, over] = [gate(), gate()];
  const hold = anyTool("hold", async () => {
    begun.open();
    await over.promise;
    return "held";
  });
  const one = await serve(db.proxied({ name: "one", pool: "test" }), {
    tools: [hold],
    script: [{ output: [call("hold")] }, { output: [say("First.")] }, { output: [say("Third.")] }],
  });
  const two = await serve(db.store({ name: "two", pool: "test" }));
  await post(one.server, "", { id: "s1" });
  await post(one.server, "/s1/turns", { input: "one", turn: "first" });
  await begun.promise;
  await post(one.server, "/s1/turns", { input: "two", turn: "second" });
  expect((await post(one.server, "/s1/cancel", { turn: "second" })).status).toBe(200);
  // The node hears of the third turn and reads its inbox: commands first, then the turns, with the cancelled one.
  let reads = 0;
  const held = db.proxy.hold(({ name }) => name.endsWith("_inbox") && (reads += 1) === 2, "answer");
  await post(two.server, "/s1/turns", { input: "three", turn: "third" });
  await held.reached;
  over.open();
  await expect.poll(() => endsIn(db)).toContainEqual(["second", "cancelled"]);
  held.release();
  await ended(two.server, "third");
  expect(await endsIn(db)).toEqual([
    ["first", "completed"],
    ["second", "cancelled"],
    ["third", "completed"],
  ]);
});

test("a turn that was cancelled as it began stays cancelled when its node dies", async () => {
  const db = await proxiedDatabase();
  let ran = 0;
  const options: ServedOptions = {
    tools: [anyTool("count", () => `ran ${(ran += 1)}`)],
    script: [{ output: [call("count")] }, { output: [say("Counted.")] }],
  };
  const one = await serve(db.proxied({ name: "one", pool: "test" }), options);
  await post(one.server, "", { id: "s1" });
  // The message is in the log, and its node does not know it yet.
  const held = db.proxy.hold(({ name }) => name.includes("_append"), "answer");
  expect((await post(one.server, "/s1/turns", { input: "one", turn: "first" })).status).toBe(202);
  await held.reached;
  expect((await post(one.server, "/s1/cancel", { turn: "first" })).status).toBe(200);
  await expire(db, "one");
  const two = await serve(db.store({ name: "two", pool: "test" }), options);
  await expect.poll(() => endsIn(db), { timeout: 20_000 }).toEqual([["first", "cancelled"]]);
  expect((await get(two.server, "/s1/turns/first")).body).toMatchObject({ result: { status: "cancelled" } });
  expect(ran).toBe(0);
  held.release();
});

test("a node forgets how a turn ended that a promotion has taken back", async () => {
  const db = await database();
  const clock = movable();
  const one = await serve(db.store({ name: "one", pool: "test", clock }));
  const two = await serve(db.store({ name: "two", pool: "test" }));
  await post(one.server, "", { id: "s1" });
  await post(one.server, "/s1/turns", { input: "one", turn: "first" });
  expect((await ended(one.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  // The standby lagged: it has the message and nothing after it.
  const [row] = await db.sql("select seq::int as seq from s.events where line like '%user_message%'");
  const seq = Number(row?.["seq"]);
  await db.sql("begin");
  await db.sql("delete from s.events where seq > $1", [seq]);
  await db.sql("update s.sessions set next_seq = $1, open_turn = 'first', wake_at = now()", [seq + 1]);
  await db.sql("update s.store set incarnation = gen_random_uuid()");
  await db.sql("commit");
  clock.ahead = 20_000;
  await expect.poll(() => endsIn(db), { timeout: 20_000 }).toEqual([["first", "interrupted"]]);
  for (const { server } of [one, two])
    expect((await get(server, "/s1/turns/first")).body).toMatchObject({ result: { status: "interrupted" } });
});

test("a node that wakes beyond its lease does not say that its turn still runs", async () => {
  const db = await database();
  const clock = movable();
  const [begun, over] = [gate(), gate()];
  const stubborn = anyTool("hold", async () => {
    begun.open();
    await over.promise; // it does not listen to its signal
    return "held";
  });
  const one = await serve(db.store({ name: "one", pool: "test", clock }), {
    tools: [stubborn],
    script: [{ output: [call("hold")] }, { output: [say("First.")] }],
  });
  await post(one.server, "", { id: "s1" });
  await post(one.server, "/s1/turns", { input: "one", turn: "first" });
  await begun.promise;
  await expire(db, "one");
  const two = await serve(db.store({ name: "two", pool: "test" }));
  expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  clock.ahead = 20_000;
  expect((await get(one.server, "/s1/turns/first")).body).toMatchObject({
    state: "done",
    result: { status: "completed" },
  });
  over.open();
});

test("a turn that was resumed and whose inbox cannot be read is left to another try, not cancelled", async () => {
  const db = await proxiedDatabase();
  const [begun, over] = [gate(), gate()];
  const hold = anyTool("hold", async (_input, { signal }) => {
    begun.open();
    await Promise.race([over.promise, new Promise((done) => signal.addEventListener("abort", done))]);
    return "held";
  });
  const one = await serve(db.store({ name: "one", pool: "test" }), {
    tools: [hold],
    script: [{ output: [call("hold")] }],
  });
  await post(one.server, "", { id: "s1" });
  await post(one.server, "/s1/turns", { input: "one", turn: "first" });
  await begun.promise;
  await expire(db, "one");
  // The first two reads find no cancel, so the turn is resumed. Then the database is away for a while.
  let reads = 0;
  const lost = db.proxy.swallow(({ name }) => name.endsWith("_inbox") && (reads += 1) > 2, { times: 4 });
  const two = await serve(db.proxied({ name: "two", pool: "test", leaseMs: 3000 }), {
    script: [{ output: [say("First.")] }, { output: [say("First.")] }],
  });
  await lost.done;
  expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  expect(await endsIn(db)).toEqual([["first", "completed"]]);
  over.open();
});
