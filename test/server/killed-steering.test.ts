/** kill -9 at every moment in the life of a message that steers: it is read once, and its id is known. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { emulatorOf, logsOf, newPlace, type Place } from "../cli/harness.ts";
import { saidIn } from "../contracts/steer-fixture.ts";
import { serve, type Server, TOKEN } from "../tui/server-harness.ts";
import { followUntil } from "./server-fixture.ts";

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

async function post(url: string, path: string, body: object): Promise<number> {
  const answer = await fetch(`${url}/api/sessions/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return answer.status;
}

async function turnOf(url: string, turn: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${url}/api/sessions/s1/turns/${turn}?wait=30`, { headers });
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

const STEER = { input: "two", turn: "joined", whenBusy: "steer" };

const STALLED = { output: [{ message: "Never the end." }], faults: "stall=after-item:1" };

/** A server whose turn waits for the answer to a question; a turn and a message to steer are promised. */
async function asked(second: object = STALLED): Promise<{
  readonly place: Place;
  readonly env: Readonly<Record<string, string>>;
  readonly server: Server;
  readonly approve: () => Promise<void>;
  readonly bodies: () => readonly string[];
}> {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "run_command", arguments: { command: "echo hello" } } }] },
      second,
      { output: [{ message: "Third." }] },
      { output: [{ message: "Fourth." }] },
    ],
  });
  const server = await serve(place, env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  session
    .send("one", { turn: "first" })
    .result()
    .catch(() => undefined);
  const events = await followUntil(session, (event) => event.type === "permission_request");
  const question = events.find((event) => event.type === "permission_request");
  expect(await post(server.url, "s1/turns", { input: "queued", turn: "queued" })).toBe(202);
  expect(await post(server.url, "s1/turns", STEER)).toBe(202);
  return {
    place,
    env,
    server,
    approve: async () => {
      await session.approve(question?.requestId ?? "");
      await followUntil(session, (event) => event.type === "text_delta");
      await session.close();
    },
    bodies: () => emulator.exchanges.map(({ requestText }) => requestText),
  };
}

async function killed(server: Server): Promise<void> {
  server.child.kill("SIGKILL");
  await server.exited;
}

const said = async (place: Place): Promise<readonly string[]> =>
  saidIn((await logsOf(place)).get("s1") ?? []);

test("between the 202 and the join: the next server begins it, before the turns that waited", async () => {
  const { place, env, server } = await asked({ output: [{ message: "Second." }] });
  await killed(server);
  const next = await serve(place, env);
  expect(await turnOf(next.url, "joined")).toMatchObject({ state: "done" });
  expect(await turnOf(next.url, "queued")).toMatchObject({ state: "done" });
  expect(await said(place)).toEqual(["first: one", "joined: two", "queued: queued"]);
  expect(await turnOf(next.url, "first")).toMatchObject({ result: { status: "interrupted" } });
  expect(await post(next.url, "s1/turns", STEER)).toBe(202);
  expect(await said(place)).toHaveLength(3);
});

test("after the join: it is part of the interrupted turn, and is not begun again", async () => {
  const { place, env, server, approve } = await asked();
  await approve();
  await killed(server);
  const next = await serve(place, env);
  expect(await turnOf(next.url, "queued")).toMatchObject({ state: "done" });
  expect(await turnOf(next.url, "joined")).toMatchObject({
    joined: "first",
    state: "done",
    result: { status: "interrupted" },
  });
  expect(await post(next.url, "s1/turns", STEER)).toBe(202);
  expect(await said(place)).toEqual(["first: one", "first<joined: two", "queued: queued"]);
});

test("between the join and the next request: the turn can be resumed, and its request has the message", async () => {
  const { place, env, server, approve, bodies } = await asked();
  expect(await post(server.url, "s1/cancel", { turn: "queued" })).toBe(200);
  await approve();
  await killed(server);
  // What the process would have left if it had been killed a moment earlier.
  const file = join(place.sessions, "s1.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"steer":"joined"'));
  writeFileSync(file, `${lines.slice(0, at + 1).join("\n")}\n`);
  const next = await serve(place, env);
  expect(await turnOf(next.url, "joined")).toMatchObject({ joined: "first", state: "done" });
  expect(await post(next.url, "s1/resume", {})).toBe(202);
  expect(await turnOf(next.url, "first")).toMatchObject({
    result: { status: "completed", text: "Third.", steps: 2 },
  });
  expect(await turnOf(next.url, "joined")).toMatchObject({ result: { status: "completed", text: "Third." } });
  expect(await said(place)).toEqual(["first: one", "first<joined: two"]);
  expect(bodies()[2]).toBe(bodies()[1]);
});
