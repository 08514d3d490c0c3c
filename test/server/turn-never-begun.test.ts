/** A turn that waited for another one when its server was killed: nobody remembers it, and its caller is told so. */

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { newPlace } from "../cli/harness.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { serve, TOKEN } from "../tui/server-harness.ts";
import { followUntil } from "./server-fixture.ts";

test("the result says interrupted and turn_unknown; the turn that had begun says interrupted alone", async () => {
  const there = newPlace();
  const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
  const server = await serve(there, env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  const begun = session.send("go");
  await followUntil(session, (event) => event.type === "text_delta");
  const waiting = session.send("and then?");
  await expect.poll(() => stateOf(server.url, waiting.id)).toBe("queued");
  server.child.kill("SIGKILL");
  await server.exited;
  await serve(there, env, Number(new URL(server.url).port));
  const { status, error } = await begun.result();
  expect([status, error]).toEqual(["interrupted", undefined]);
  expect(await waiting.result()).toMatchObject({ status: "interrupted", error: { code: "turn_unknown" } });
  await session.close();
});

test("a turn that is stopped while its server is gone ends at once, and says why", async () => {
  const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
  const server = await serve(newPlace(), env);
  const session = await (await connect(server.url, { token: TOKEN })).open({ id: "s1" });
  const turn = session.send("go");
  await followUntil(session, (event) => event.type === "text_delta");
  server.child.kill("SIGKILL");
  await server.exited;
  turn.cancel();
  expect(await turn.result()).toMatchObject({ status: "cancelled", error: { code: "server_unreachable" } });
  await session.close();
});

async function stateOf(url: string, turn: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${url}/api/sessions/s1/turns/${turn}`, { headers });
  return ((await answer.json()) as { readonly state?: string }).state;
}
