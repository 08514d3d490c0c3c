/** A session as a node shows it that does not hold it: who may act, and a turn that no node holds for a while. */

import { expect, test } from "vitest";

import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { codeOf, ended, get, post } from "../server/promise-fixture.ts";
import { type Database, database } from "./fixture.ts";
import { expire, openToWrite } from "./nodes.ts";
import { eventsIn } from "./served-nodes.ts";
import { node, type Server } from "./server-fixture.ts";

interface Busy extends Server {
  readonly finish: () => void;
}

/** A node whose session "s1" is in a tool until `finish`, or until the tool is stopped. */
async function busyNode(db: Database): Promise<Busy> {
  const [begun, over] = [gate(), gate()];
  const hold = anyTool("hold", (_input, { signal }) => {
    begun.open();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("stopped"));
      void over.promise.then(() => resolve("finished"));
    });
  });
  const there = await node(db, "one", {
    tools: [hold],
    permissions: "auto",
    script: [{ output: [call("hold")] }, { output: [say("First.")] }],
  });
  expect((await post(there.server, "", { id: "s1" })).status).toBe(201);
  expect((await post(there.server, "/s1/turns", { input: "one", turn: "first" })).status).toBe(202);
  await begun.promise;
  return { ...there, finish: () => over.open() };
}

const stateOn = async ({ server }: Server): Promise<Readonly<Record<string, unknown>>> =>
  (await get(server, "/s1")).body;

const endsIn = async (db: Database): Promise<readonly unknown[]> =>
  (await eventsIn(db, "s1")).flatMap((event) =>
    event.type === "turn_end" ? [[event.turn, event.status]] : [],
  );

test("a session that a node of the pool holds can be used on every other node", async () => {
  const db = await database();
  await busyNode(db);
  const two = await node(db, "two");
  expect(await stateOn(two)).toMatchObject({ access: "write", writer: "live", interrupted: false });
});

test("a message sent into the turn of another node joins it before its next request", async () => {
  const db = await database();
  const one = await busyNode(db);
  const two = await node(db, "two");
  const steered = { input: "and mind this", turn: "steered", whenBusy: "steer" };
  expect((await post(two.server, "/s1/turns", steered)).status).toBe(202);
  // It is in the line of the node that holds the session.
  await expect.poll(async () => (await stateOn(one))["waiting"]).toBe(1);
  one.finish();
  expect((await ended(two.server, "steered")).body).toMatchObject({ joined: "first", state: "done" });
  const messages = (await eventsIn(db, "s1")).filter((event) => event.type === "user_message");
  expect(messages).toMatchObject([{ turn: "first" }, { turn: "first", steer: "steered" }]);
  expect(await endsIn(db)).toEqual([["first", "completed"]]);
});

test("a session that a terminal holds can only be watched, until the terminal leaves it", async () => {
  const db = await database();
  const two = await node(db, "two");
  expect((await post(two.server, "", { id: "s1" })).status).toBe(201);
  const terminal = await openToWrite(db.store({ name: "terminal" }), "s1", 30_000);
  await expect.poll(() => stateOn(two)).toMatchObject({ access: "read", writer: "live" });
  await terminal.close();
  await expect.poll(() => stateOn(two)).toMatchObject({ access: "write", writer: "none" });
});

test.each([
  ["with its id", { turn: "first" }],
  ["without its id", {}],
])("a turn that no node holds yet can be cancelled, %s", async (_how, body) => {
  const db = await database();
  await busyNode(db);
  const two = await node(db, "two");
  // As between the second takeover and the third: nobody looks at it before that time.
  await db.sql("update s.sessions set wake_at = now() + interval '1 hour'");
  await expire(db, "one");
  await expect.poll(() => stateOn(two)).toMatchObject({ writer: "none", interrupted: false });
  expect(await post(two.server, "/s1/cancel", body)).toEqual({ status: 200, body: { cancelled: true } });
  expect(await endsIn(db)).toEqual([["first", "cancelled"]]);
  expect(codeOf(await post(two.server, "/s1/cancel", {}))).toBe("nothing_to_cancel");
});
