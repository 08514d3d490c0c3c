/** Servers on one database: whichever is asked, the session goes on where it is, and elsewhere when its node is gone. */

import { describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/index.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { codeOf, ended, get, post, type Server } from "../server/promise-fixture.ts";
import { servedAlone, type ServedOptions } from "../server/server-fixture.ts";
import { type Database, database } from "./fixture.ts";

/** A server of the pool. A copy of a store is not known to be in the same place, so the nodes act like processes. */
function node(db: Database, name: string, options: ServedOptions = {}, leaseMs = 15_000): Promise<Server> {
  const store = { ...db.store({ pool: "test", name, leaseMs }) };
  return servedAlone({ permissions: "auto", script: [{ output: [say("Elsewhere.")] }], ...options, store });
}

interface Busy extends Server {
  readonly finish: () => void;
  readonly ran: () => number;
}

/** A node whose session "s1" is in a tool until `finish`. */
async function busyNode(db: Database, name: string, options: ServedOptions = {}): Promise<Busy> {
  const [begun, wait] = [gate(), gate()];
  let ran = 0;
  const hold = anyTool("hold", async (_input, { signal }) => {
    ran += 1;
    begun.open();
    await Promise.race([
      wait.promise,
      new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      }),
    ]);
    return "held";
  });
  const there = await node(db, name, {
    tools: [hold],
    script: [{ output: [call("hold")] }, { output: [say("First.")] }],
    ...options,
  });
  expect((await post(there.server, "", { id: "s1" })).status).toBe(201);
  expect((await post(there.server, "/s1/turns", { input: "one", turn: "first" })).status).toBe(202);
  await begun.promise;
  return { ...there, finish: () => wait.open(), ran: () => ran };
}

async function logOf(db: Database): Promise<readonly LoggedEvent[]> {
  const log = await db.store().open("s1", { mode: "read" });
  await log.close();
  return log.events;
}

const endsOf = async (db: Database): Promise<readonly (readonly [string | undefined, string])[]> =>
  (await logOf(db)).flatMap((event) =>
    event.type === "turn_end" ? [[event.turn, event.status] as const] : [],
  );

describe("a node that does not hold the session", () => {
  test("accepts a turn, which begins after the running one, and knows its state at any time", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    const two = await node(db, "two");
    expect(await post(two.server, "/s1/turns", { input: "two", turn: "second" })).toMatchObject({
      status: 202,
      body: { turn: "second", state: "queued" },
    });
    expect((await get(two.server, "/s1/turns/first")).body).toMatchObject({ state: "running" });
    for (const { server } of [one, two])
      expect(await post(server, "/s1/turns", { input: "two", turn: "second" })).toMatchObject({
        status: 202,
        body: { turn: "second", state: "queued" },
      });
    one.finish();
    expect((await ended(two.server, "second")).body).toMatchObject({
      state: "done",
      result: { status: "completed" },
    });
    expect(await endsOf(db)).toEqual([
      ["first", "completed"],
      ["second", "completed"],
    ]);
    expect(await db.sql("select * from s.inbox")).toEqual([]);
  });

  test("refuses input that no node could begin, and a turn that must not wait", async () => {
    const db = await database();
    await busyNode(db, "one");
    const { server } = await node(db, "two");
    expect(codeOf(await post(server, "/s1/turns", { input: "", turn: "empty" }))).toBe("input_empty");
    expect(codeOf(await post(server, "/s1/turns", { input: "x", turn: "now", whenBusy: "reject" }))).toBe(
      "session_busy",
    );
  });

  test("cancels a running turn, and answers when the log shows it", async () => {
    const db = await database();
    await busyNode(db, "one");
    const { server } = await node(db, "two");
    expect(await post(server, "/s1/cancel", { turn: "first" })).toEqual({
      status: 200,
      body: { cancelled: true },
    });
    expect(await endsOf(db)).toEqual([["first", "cancelled"]]);
    expect(codeOf(await post(server, "/s1/cancel", { turn: "first" }))).toBe(undefined);
  });

  test("cancels whatever runs, if no turn is named, and says so if nothing does", async () => {
    const db = await database();
    await busyNode(db, "one");
    const { server } = await node(db, "two");
    expect((await post(server, "/s1/cancel")).status).toBe(200);
    expect(codeOf(await post(server, "/s1/cancel"))).toBe("nothing_to_cancel");
  });

  test("cancels a turn that waits on another node, which then never begins", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    const two = await node(db, "two");
    await post(two.server, "/s1/turns", { input: "two", turn: "second" });
    expect((await post(two.server, "/s1/cancel", { turn: "second" })).status).toBe(200);
    one.finish();
    await ended(one.server, "first");
    await ended(one.server, "second");
    await expect.poll(() => endsOf(db)).toContainEqual(["second", "cancelled"]);
    expect((await logOf(db)).some((event) => event.type === "user_message" && event.turn === "second")).toBe(
      false,
    );
  });

  test("answers a question of a turn on another node", async () => {
    const db = await database();
    const two = await node(db, "two");
    const asking = await node(db, "three", {
      permissions: "ask",
      interactive: true,
      tools: [anyTool("hold", () => "held", { access: "write" })],
      script: [{ output: [call("hold")] }, { output: [say("Asked.")] }],
    });
    expect((await post(asking.server, "", { id: "s2" })).status).toBe(201);
    await post(asking.server, "/s2/turns", { input: "ask me", turn: "asked" });
    const question = async (): Promise<string | undefined> => {
      const [row] = await db.sql(
        "select line::json->>'requestId' as id from s.events where session = 's2' and line::json->>'type' = 'permission_request'",
      );
      return row?.["id"] as string | undefined;
    };
    await expect.poll(question).toBeTypeOf("string");
    const id = await question();
    expect(codeOf(await post(two.server, "/s2/permissions/pr_nobody", { decision: "allow" }))).toBe(
      "permission_not_pending",
    );
    expect(
      codeOf(
        await post(two.server, `/s2/permissions/${id}`, { decision: "allow", argumentsHash: "0".repeat(64) }),
      ),
    ).toBe("permission_mismatch");
    expect(await post(two.server, `/s2/permissions/${id}`, { decision: "allow" })).toEqual({
      status: 200,
      body: { decision: "allow" },
    });
    expect(codeOf(await post(two.server, `/s2/permissions/${id}`, { decision: "deny" }))).toBe(
      "permission_not_pending",
    );
    expect((await get(two.server, "/s2/turns/asked?wait=30")).body).toMatchObject({
      result: { status: "completed", text: "Asked." },
    });
  });

  test("renames a session when its node has released it, instead of refusing", async () => {
    const db = await database();
    const one = await busyNode(db, "one", { server: { releaseMs: 100 } });
    const two = await node(db, "two");
    const renaming = post(two.server, "/s1/title", { title: "A new title" });
    one.finish();
    expect(await renaming).toMatchObject({ status: 200, body: { title: "A new title" } });
  });
});

describe("when a node is gone", () => {
  test("another resumes its turn without being asked, and no tool runs twice", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    const two = await node(db, "two", { tools: [anyTool("hold", () => "again")] });
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    expect((await ended(two.server, "first")).body).toMatchObject({
      result: { status: "completed", text: "Elsewhere." },
    });
    expect(one.ran()).toBe(1);
    expect(await endsOf(db)).toEqual([["first", "completed"]]);
    const results = (await logOf(db)).filter((event) => event.type === "tool_result");
    expect(results).toMatchObject([{ status: "outcome_unknown" }]);
    // The deposed node shows what the new one did.
    await expect
      .poll(async () => (await get(one.server, "/s1/turns/first")).body)
      .toMatchObject({ result: { status: "completed" } });
  });

  test("its turn reads as running until another goes on with it", async () => {
    const db = await database();
    await busyNode(db, "one");
    const viewer = await servedAlone({ store: { ...db.store({ name: "viewer" }) } });
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    await expect.poll(async () => (await get(viewer.server, "/s1")).body["writer"]).toBe("none");
    expect((await get(viewer.server, "/s1/turns/first")).body).toEqual({
      turn: "first",
      state: "running",
      firstSeq: expect.any(Number) as number,
    });
    expect((await get(viewer.server, "/s1")).body).toMatchObject({ interrupted: false });
  });

  test("the turns that waited begin after the resumed one", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    await post(one.server, "/s1/turns", { input: "two", turn: "second" });
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    const two = await node(db, "two");
    expect((await ended(two.server, "second")).body).toMatchObject({ result: { status: "completed" } });
    expect(await endsOf(db)).toEqual([
      ["first", "completed"],
      ["second", "completed"],
    ]);
  });

  test("a turn that has ended three nodes is given up, with a notice", async () => {
    const db = await database();
    await busyNode(db, "one");
    await db.sql("update s.sessions set takeovers = 3");
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    const two = await node(db, "two", { server: { releaseMs: 100 } });
    expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "interrupted" } });
    expect((await logOf(db)).filter((event) => event.type === "notice")).toMatchObject([
      { code: "turn_abandoned" },
    ]);
    expect((await post(two.server, "/s1/turns", { input: "go on", turn: "next" })).status).toBe(202);
    expect((await ended(two.server, "next")).body).toMatchObject({ result: { status: "completed" } });
    await expect
      .poll(() => db.sql("select takeovers, wake_at, holder from s.sessions"))
      .toEqual([{ takeovers: 0, wake_at: null, holder: null }]);
  });

  test.each([
    ["close", "interrupted"],
    ["leave", "interrupted"],
  ] as const)("onNodeLoss %s does not resume the turn", async (onNodeLoss, status) => {
    const db = await database();
    await busyNode(db, "one");
    const two = await node(db, "two", { server: { onNodeLoss } });
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    await expect
      .poll(async () => (await get(two.server, "/s1/turns/first")).body)
      .toMatchObject({ state: "done", result: { status } });
    expect(await endsOf(db)).toEqual(onNodeLoss === "close" ? expect.anything() : []);
    // Nobody looks at it again until somebody asks.
    await expect
      .poll(() => db.sql("select wake_at, holder from s.sessions"), { timeout: 20_000 })
      .toEqual([{ wake_at: null, holder: null }]);
    expect((await post(two.server, "/s1/turns", { input: "go on", turn: "next" })).status).toBe(202);
    expect((await ended(two.server, "next")).body).toMatchObject({ result: { status: "completed" } });
  });

  test("sessions of another pool, and of none, are left alone", async () => {
    const db = await database();
    await busyNode(db, "one");
    await db.sql("update s.sessions set pool = 'other'");
    await db.sql("update s.nodes set lease_until = now() - interval '1 s' where name = 'one'");
    const two = await node(db, "two");
    const shared = two.store.shared;
    expect(await shared?.orphans(10)).toEqual([]);
    await db.sql("update s.sessions set pool = null");
    expect(await shared?.orphans(10)).toEqual([]);
    await db.sql("update s.sessions set pool = 'test'");
    expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  });
});

describe("a node that stops", () => {
  test("lets its turns end within the drain time, and takes no new ones", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    const closing = one.server.close({ drainMs: 30_000 });
    await expect
      .poll(async () => codeOf(await post(one.server, "/s1/turns", { input: "late" })))
      .toBe("server_stopping");
    one.finish();
    await closing;
    expect(await endsOf(db)).toEqual([["first", "completed"]]);
  });

  test("leaves a turn open when the time is over, and another node goes on with it at once", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    const two = await node(db, "two", { tools: [anyTool("hold", () => "again")] });
    await one.server.close({ drainMs: 0 });
    expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "completed" } });
    expect(one.ran()).toBe(1);
    expect(await endsOf(db)).toEqual([["first", "completed"]]);
    expect(await db.sql("select takeovers from s.sessions")).toEqual([{ takeovers: 0 }]);
  });

  test("leaves what waits to another node", async () => {
    const db = await database();
    const one = await busyNode(db, "one");
    await post(one.server, "/s1/turns", { input: "two", turn: "second" });
    const two = await node(db, "two");
    await one.server.close({ drainMs: 0 });
    expect((await ended(two.server, "second")).body).toMatchObject({ result: { status: "completed" } });
    expect((await endsOf(db)).map(([turn]) => turn)).toEqual(["first", "second"]);
  });
});
