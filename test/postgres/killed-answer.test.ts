/** What a person saw of an answer whose node was killed is there for viewers on other nodes, before anybody goes on. */

import { expect, test } from "vitest";

import { createAgent, emulator, type SessionEvent } from "../../src/index.ts";
import { start } from "../cli/harness.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { onlySession, storePlace } from "./cli-fixture.ts";

const STEPS = [{ output: [{ message: "Half of this one was there." }] }, { output: [{ message: "Done." }] }];

test("a viewer reads the live rows of a node that is gone, and the next writer records them once", async () => {
  const { place, db, env: ofStore } = await storePlace();
  const { env } = await stalledAfter(STEPS, "Half of this");
  const chat = start(place, ["-p", "go"], { env: { ...ofStore, ...env } });
  const agent = createAgent({ model: emulator() });
  const reader = db.store({ name: "viewer" });
  await expect.poll(async () => (await db.sql("select id from s.sessions where made")).length).toBe(1);
  const id = await onlySession(db);
  const open = await agent.open({ id, store: reader, mode: "read" });
  const said = new Map<number, string>();
  const stop = new AbortController();
  void follow(open.follow({ signal: stop.signal }), said);
  await expect.poll(() => [...said.values()].join("")).toContain("Half of this");
  chat.kill("SIGKILL");
  await chat.ended;
  stop.abort();
  await db.sql("update s.nodes set lease_until = now() - interval '1 hour' where name <> 'viewer'");

  const late = await agent.open({ id, store: db.store({ name: "late" }), mode: "read" });
  const seen = new Map<number, string>();
  const over = new AbortController();
  void follow(late.follow({ signal: over.signal }), seen);
  await expect.poll(() => seen).toEqual(said);
  expect(late.writer).toBe("none");
  const count = async () => Number((await db.sql("select count(*) as n from s.events"))[0]?.["n"]);
  const before = await count();
  expect(await count()).toBe(before);

  const writer = await agent.open({ id, store: db.store({ name: "writer" }) });
  expect(await writer.send("go on").result()).toMatchObject({ status: "completed" });
  await expect.poll(() => seen.size).toBe(0);
  const partials: string[] = [];
  for await (const event of writer.events())
    if (event.type === "partial") partials.push(event.parts.join(""));
  expect(partials).toEqual([[...said.values()].join("")]);
  over.abort();
  await Promise.all([open, late, writer].map((one) => one.close()));
});

/** Keeps the text of open items. */
async function follow(events: AsyncIterable<SessionEvent>, said: Map<number, string>): Promise<void> {
  for await (const event of events) {
    if ("seq" in event && (event.type === "response_end" || event.type === "partial")) said.clear();
    if (event.type === "text_start") said.set(event.outputIndex, "");
    if (event.type === "text_delta")
      said.set(event.outputIndex, (said.get(event.outputIndex) ?? "") + event.delta);
  }
}
