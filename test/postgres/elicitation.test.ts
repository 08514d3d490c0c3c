/** The question of a running tool, answered at a node that does not run the turn. */

import { expect, test } from "vitest";

import type { ElicitationAnswer, ElicitationRequest } from "../../src/base/events/index.ts";
import { askingTool, form } from "../contracts/elicit-fixture.ts";
import { call, say } from "../contracts/session-fixture.ts";
import { codeOf, ended, post } from "../server/promise-fixture.ts";
import { type Database, database } from "./fixture.ts";
import { expire } from "./nodes.ts";
import { eventsIn } from "./served-nodes.ts";
import { node, type Server } from "./server-fixture.ts";

interface Asking extends Server {
  readonly got: ElicitationAnswer[];
  readonly question: ElicitationRequest;
}

async function asking(db: Database): Promise<Asking> {
  const got: ElicitationAnswer[] = [];
  const one = await node(db, "one", {
    tools: [askingTool(form(), got)],
    script: [{ output: [call("ask")] }, { output: [say("Done.")] }],
  });
  expect((await post(one.server, "", { id: "s1" })).status).toBe(201);
  expect((await post(one.server, "/s1/turns", { input: "go", turn: "first" })).status).toBe(202);
  const asked = async (): Promise<ElicitationRequest | undefined> =>
    (await eventsIn(db, "s1")).find((event) => event.type === "elicitation_request");
  await expect.poll(asked).toBeDefined();
  return { ...one, got, question: (await asked()) as ElicitationRequest };
}

const inbox = async (db: Database): Promise<string> =>
  JSON.stringify(await db.sql("select key, kind, body from s.inbox where session = 's1'"));

test("goes through the inbox to the node that runs the turn, and leaves nothing there or in the log", async () => {
  const db = await database();
  const one = await asking(db);
  const two = await node(db, "two");
  const path = `/s1/elicitations/${one.question.requestId}`;
  expect(codeOf(await post(two.server, path, { action: "accept", content: { count: 1 } }))).toBe(
    "elicitation_invalid",
  );
  expect(codeOf(await post(two.server, "/s1/elicitations/el_nobody", { action: "decline" }))).toBe(
    "elicitation_not_pending",
  );
  expect(one.got).toEqual([]);
  const given = { action: "accept", content: { name: "Typed-Elsewhere", count: "5" } };
  expect(await post(two.server, path, given)).toMatchObject({ status: 200, body: { action: "accept" } });
  expect(one.got).toEqual([{ action: "accept", content: { name: "Typed-Elsewhere", count: 5 } }]);
  expect((await ended(two.server, "first")).body).toMatchObject({ state: "done" });
  expect(codeOf(await post(two.server, path, { action: "decline" }))).toBe("elicitation_not_pending");
  await expect.poll(() => inbox(db)).not.toContain("Typed-Elsewhere");
  expect(JSON.stringify(await eventsIn(db, "s1"))).not.toContain("Typed-Elsewhere");
});

test("of a node that is gone is over: an answer is refused and not kept", async () => {
  const db = await database();
  const one = await asking(db);
  const two = await node(db, "two", { server: { onNodeLoss: "leave" } });
  await expire(db, "one");
  const path = `/s1/elicitations/${one.question.requestId}`;
  const answer = await post(two.server, path, { action: "accept", content: { name: "Too-Late" } });
  expect(codeOf(answer)).toBe("elicitation_not_pending");
  expect(await inbox(db)).not.toContain("Too-Late");
  expect(one.got.filter(({ action }) => action === "accept")).toEqual([]);
});
