/** The next server keeps the promises that a killed server made. */

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { logsOf, newPlace } from "../cli/harness.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { serve, TOKEN } from "../tui/server-harness.ts";
import { followUntil } from "./server-fixture.ts";

const STALLED = [{ output: [{ message: "Never the end." }] }];

test("a new session, a waiting turn and a cancel survive kill -9; the running turn is interrupted", async () => {
  const there = newPlace();
  const { env } = await stalledAfter(STALLED, "Never");
  const server = await serve(there, env);
  const agent = await connect(server.url, { token: TOKEN });
  const session = await agent.open({ id: "s1" });
  const begun = session.send("go");
  await followUntil(session, (event) => event.type === "text_delta");
  const waiting = session.send("and then?", { turn: "waits" });
  const dropped = session.send("not this", { turn: "dropped" });
  await expect.poll(async () => (await turnOf(server.url, dropped.id)).state).toBe("queued");
  expect((await post(server.url, "s1/cancel", { turn: "dropped" })).status).toBe(200);
  expect((await post(server.url, "", { id: "made" })).status).toBe(201);
  server.child.kill("SIGKILL");
  await server.exited;
  const next = await serve(there, env, Number(new URL(server.url).port));
  const { status, error } = await begun.result();
  expect([status, error]).toEqual(["interrupted", undefined]);
  expect(await waiting.result()).toMatchObject({ status: "completed" });
  expect(await dropped.result()).toMatchObject({ status: "cancelled" });
  expect((await post(next.url, "s1/turns", { input: "and then?", turn: "waits" })).status).toBe(202);
  expect(await (await agent.open({ id: "made" })).send("hello").result()).toMatchObject({
    status: "completed",
  });
  const events = (await logsOf(there)).get("s1") ?? [];
  const ends = events.flatMap((event) =>
    event.type === "turn_end" ? [[event.turn, event.status] as const] : [],
  );
  expect(ends).toHaveLength(3);
  expect(new Map(ends)).toEqual(
    new Map([
      [begun.id, "interrupted"],
      ["waits", "completed"],
      ["dropped", "cancelled"],
    ]),
  );
  await session.close();
});

test("an interrupted turn reads the same before the kill, after it, and once the next message has closed it", async () => {
  const there = newPlace();
  const { env } = await stalledAfter(STALLED, "Never");
  const server = await serve(there, env);
  const beside = await serve(there, env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  const { id } = session.send("go");
  await followUntil(session, (event) => event.type === "text_delta");
  expect(await turnOf(beside.url, id)).toMatchObject({ state: "running" });
  server.child.kill("SIGKILL");
  await server.exited;
  const fresh = await serve(there, env);
  await expect.poll(async () => (await turnOf(beside.url, id)).state).toBe("done");
  const asked = [await turnOf(beside.url, id), await turnOf(fresh.url, id)];
  expect(asked[0]?.result).toMatchObject({ status: "interrupted", text: "", steps: 1 });
  expect(asked[1]).toEqual(asked[0]);
  await post(fresh.url, "s1/turns", { input: "again", turn: "again" });
  await turnOf(fresh.url, "again", "?wait=30");
  for (const { url } of [beside, fresh]) expect((await turnOf(url, id)).result).toEqual(asked[0]?.result);
  await session.close();
});

test("a turn that is stopped while its server is gone ends at once and says why", async () => {
  const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
  const server = await serve(newPlace(), env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  const turn = session.send("go");
  for await (const event of turn) if (event.type === "text_delta") break; // it was accepted too
  server.child.kill("SIGKILL");
  await server.exited;
  turn.cancel();
  expect(await turn.result()).toMatchObject({ status: "cancelled", error: { code: "server_unreachable" } });
  await session.close();
});

interface TurnAnswer {
  readonly state?: string;
  readonly result?: unknown;
}

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

async function turnOf(url: string, turn: string, query = ""): Promise<TurnAnswer> {
  const answer = await fetch(`${url}/api/sessions/s1/turns/${turn}${query}`, { headers });
  return (await answer.json()) as TurnAnswer;
}

function post(url: string, path: string, body: object): Promise<Response> {
  const route = path === "" ? "" : `/${path}`;
  return fetch(`${url}/api/sessions${route}`, { method: "POST", headers, body: JSON.stringify(body) });
}
