/** Messages that wait in the inbox: every node lists them, and any node can take one back. */

import { expect, test } from "vitest";

import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { codeOf, ended, get, post } from "../server/promise-fixture.ts";
import { type Database, database } from "./fixture.ts";
import { expire } from "./nodes.ts";
import { eventsIn } from "./served-nodes.ts";
import { node, type Server } from "./server-fixture.ts";

async function busyNode(db: Database): Promise<Server & { readonly finish: () => void }> {
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

const queuedOn = async ({ server }: Server): Promise<unknown> => (await get(server, "/s1")).body["queued"];

const messagesIn = async (db: Database): Promise<readonly unknown[]> =>
  (await eventsIn(db, "s1")).flatMap((event) => (event.type === "user_message" ? [event.content] : []));

test("every node lists the messages that wait, whichever node took them", async () => {
  const db = await database();
  const one = await busyNode(db);
  const two = await node(db, "two");
  expect((await post(one.server, "/s1/turns", { input: "two", turn: "second" })).status).toBe(202);
  expect((await post(two.server, "/s1/turns", { input: "three", turn: "third" })).status).toBe(202);
  const queued = [
    { turn: "second", text: "two" },
    { turn: "third", text: "three" },
  ];
  expect(await queuedOn(two)).toEqual(queued);
  await expect.poll(() => queuedOn(one)).toEqual(queued);
  one.finish();
  await ended(two.server, "third");
  for (const there of [one, two]) expect(await queuedOn(there)).toEqual([]);
});

test("a node that does not hold the session takes a message back, but not from a turn that runs", async () => {
  const db = await database();
  const one = await busyNode(db);
  const two = await node(db, "two");
  await post(one.server, "/s1/turns", { input: "two", turn: "second" });
  await post(two.server, "/s1/turns", { input: "mind this", turn: "steers", whenBusy: "steer" });
  for (const [turn, input] of [
    ["second", "two"],
    ["steers", "mind this"],
  ])
    expect(await post(two.server, `/s1/turns/${turn}/withdraw`)).toMatchObject({
      status: 200,
      body: { input },
    });
  const running = await post(two.server, "/s1/turns/first/withdraw");
  expect([running.status, codeOf(running)]).toEqual([409, "turn_begun"]);
  expect(codeOf(await post(two.server, "/s1/turns/never/withdraw"))).toBe("turn_unknown");
  one.finish();
  expect((await ended(two.server, "first")).body).toMatchObject({ result: { status: "completed" } });
  await expect
    .poll(async () => (await ended(two.server, "second")).body)
    .toMatchObject({
      result: { status: "cancelled" },
    });
  expect(await messagesIn(db)).toHaveLength(1);
});

test("a message that was withdrawn never runs, even if its node is gone right after the answer", async () => {
  const db = await database();
  const one = await busyNode(db);
  const two = await node(db, "two", { script: [{ output: [say("Elsewhere.")] }] });
  await post(one.server, "/s1/turns", { input: "two", turn: "second" });
  await post(one.server, "/s1/turns", { input: "three", turn: "third" });
  expect((await post(one.server, "/s1/turns/second/withdraw")).status).toBe(200);
  await expire(db, "one");
  expect((await ended(two.server, "third")).body).toMatchObject({ result: { status: "completed" } });
  expect((await ended(two.server, "second")).body).toMatchObject({ result: { status: "cancelled" } });
  const said = JSON.stringify(await messagesIn(db));
  expect(said).toContain("three");
  expect(said).not.toContain("two");
});
