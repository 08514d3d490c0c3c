/** The list of a server: how many sessions there are on all pages, and what they are doing, without reading logs. */

import { readdirSync } from "node:fs";

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { fileStore, memoryStore, type Store } from "../../src/index.ts";
import { askingTool, form } from "../contracts/elicit-fixture.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { LogBuilder } from "../contracts/log-builder.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { followUntil, served } from "./server-fixture.ts";

const titled = (id: string, title: string): Parameters<Store["create"]>[1] => ({
  events: new LogBuilder()
    .add({ type: "session_start", session: id, root: id, writer: "test", cwd: "/work" })
    .add({ type: "title", title }).events as Parameters<Store["create"]>[1]["events"],
  blobs: new Map(),
});

test.each([
  ["files", () => fileStore(temporaryFolder())],
  ["memory", () => memoryStore()],
])("a page of sessions in %s says how many match on all pages", async (_kind, create) => {
  const store = create();
  for (let n = 0; n < 25; n += 1)
    await store.create(`s${n}`, titled(`s${n}`, n % 5 === 0 ? "Five" : "Other"));
  const { remote } = await served({ store });
  const ids: string[] = [];
  for (let before; ids.length < 25;) {
    const page = await remote.page({ limit: 10, before });
    expect(page.total).toBe(25);
    ids.push(...page.sessions.map(({ id }) => id));
    before = page.sessions.at(-1);
  }
  expect(new Set(ids).size).toBe(25);
  const first = await remote.page({ search: "five", limit: 2 });
  const second = await remote.page({ search: "five", limit: 2, before: first.sessions.at(-1) });
  expect([first.total, second.total]).toEqual([5, 5]);
  expect(new Set([...first.sessions, ...second.sessions].map(({ id }) => id)).size).toBe(4);
  // The session at the end of a page may be gone when the next one is asked for.
  await store.remove(second.sessions.at(-1)?.id ?? "");
  const third = await remote.page({ search: "five", limit: 2, before: second.sessions.at(-1) });
  expect([third.total, third.sessions.length]).toEqual([4, 1]);
  expect(await remote.page({ search: "none" })).toEqual({ sessions: [], total: 0 });
  expect(await remote.list({ limit: 3 })).toHaveLength(3);
});

test("the number of sessions is exact at any moment, however fast they come and go", async () => {
  const store = fileStore(temporaryFolder());
  for (let n = 0; n < 30; n += 1) {
    await store.create(`s${n}`, titled(`s${n}`, "One"));
    for await (const one of store.list({ limit: 1 })) expect(one.id).toMatch(/^s/);
    expect(await store.count?.()).toBe(n + 1);
  }
  await store.remove("s3");
  expect(await store.count?.()).toBe(29);
});

test("the first page of many sessions without summaries reads only its own logs", async () => {
  const folder = temporaryFolder();
  const store = fileStore(folder);
  for (let n = 0; n < 120; n += 1) await store.create(`s${n}`, titled(`s${n}`, "One"));
  const { remote } = await served({ store: fileStore(folder) });
  const { sessions, total } = await remote.page({ limit: 10 });
  expect([sessions.length, total]).toEqual([10, 120]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".summary"))).toHaveLength(10);
});

test("a listing says whether its session runs a turn here, or waits for a person's answer", async () => {
  const [begun, over] = [gate(), gate()];
  const run = async (): Promise<string> => {
    begun.open();
    await over.promise;
    return "held";
  };
  const hold = anyTool("hold", run, { access: "execute" });
  const { remote, server } = await served({
    tools: [hold],
    permissions: "ask",
    script: [{ output: [call("hold")] }, { output: [say("Done.")] }],
  });
  const stateNow = async (): Promise<unknown> => (await remote.list()).map(({ id, state }) => [id, state]);
  const session = await remote.open({ id: "s1" });
  await remote.open({ id: "quiet" });
  const turn = session.send("go");
  const events = await followUntil(session, (event) => event.type === "permission_request");
  const asked = events.at(-1);
  expect(new Map((await stateNow()) as [string, string][])).toEqual(
    new Map([
      ["s1", "asks"],
      ["quiet", undefined],
    ]),
  );
  await session.approve(asked?.type === "permission_request" ? asked.requestId : "");
  await begun.promise;
  expect(new Map((await stateNow()) as [string, string][]).get("s1")).toBe("running");
  over.open();
  await turn.result();
  await expect.poll(async () => new Map((await stateNow()) as [string, string][]).get("s1")).toBeUndefined();
  const other = await connect(server.url, { token: server.token });
  expect((await other.page({ limit: 1 })).total).toBe(2);
});

test("the question of a running tool counts as waiting for an answer", async () => {
  const { remote } = await served({
    tools: [askingTool(form())],
    permissions: "auto",
    script: [{ output: [call("ask")] }, { output: [say("Done.")] }],
  });
  const session = await remote.open({ id: "s1" });
  const turn = session.send("go");
  const events = await followUntil(session, (event) => event.type === "elicitation_request");
  expect((await remote.list())[0]?.state).toBe("asks");
  const asked = events.at(-1);
  await session.answer(asked?.type === "elicitation_request" ? asked.requestId : "", { action: "decline" });
  expect(await turn.result()).toMatchObject({ status: "completed" });
});
