/** Structured output over HTTP: a turn keeps its schema, and its value can be read after a restart. */

import { expect, test } from "vitest";

import { memoryStore, type SessionHandle, type Store } from "../../src/index.ts";
import type { AppendDraft } from "../../src/runtime/log/index.ts";
import { say } from "../contracts/session-fixture.ts";
import { ask, type Served, served } from "./server-fixture.ts";

const WEATHER = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const MOOD = { type: "object", properties: { mood: { type: "string" } }, required: ["mood"] };
const PARIS = say('{"city":"Paris"}');
const FINE = say('{"mood":"fine"}');

/** A server over the same events up to the first event of this type. */
async function cutAt(store: Store, id: string, type: string, script: readonly object[]): Promise<Served> {
  const log = await store.open(id, { mode: "read" });
  const events = log.events.slice(
    0,
    log.events.findIndex((event) => event.type === type),
  );
  await log.close();
  const left = memoryStore();
  await left.create(id, { events: events as readonly AppendDraft[], blobs: new Map() });
  return served({ store: left, script: script.map((one) => ({ output: [one] })) });
}

const messageIn = async (handle: SessionHandle): Promise<number> => {
  for await (const event of handle.events()) if (event.type === "user_message") return event.seq;
  return -1;
};

test("a remote retry and edit keep the schema, or take another", async () => {
  const outputs = [PARIS, PARIS, PARIS, FINE, FINE].map((one) => ({ output: [one] }));
  const { remote } = await served({ script: outputs });
  const handle = await remote.open();
  await handle.send("Weather?", { output: WEATHER }).result();
  expect(await handle.retry().result()).toMatchObject({ status: "completed", output: { city: "Paris" } });
  const edited = await handle.edit(await messageIn(handle), "Weather now?").result();
  expect(edited).toMatchObject({ status: "completed", output: { city: "Paris" } });
  expect(await handle.retry({ output: MOOD }).result()).toMatchObject({ output: { mood: "fine" } });
});

test.each(["response_start", "turn_end"])(
  "a remote resume of a turn cut at %s answers with its schema",
  async (type) => {
    const { remote, store } = await served({ script: [{ output: [PARIS] }] });
    const handle = await remote.open();
    await handle.send("Weather?", { output: WEATHER }).result();
    const { remote: next } = await cutAt(store, handle.id, type, [PARIS]);
    const again = await next.open({ id: handle.id });
    expect(again.interrupted).toBe(true);
    const result = await again.resume().result();
    expect(result).toMatchObject({ status: "completed", output: { city: "Paris" } });
    expect((await again.rebuild(1)).settings.output?.schema).toEqual(WEATHER);
  },
);

test("a remote resume takes a schema of its own", async () => {
  const { remote, store } = await served({ script: [{ output: [PARIS] }] });
  const handle = await remote.open();
  await handle.send("Weather?", { output: WEATHER }).result();
  const { remote: next } = await cutAt(store, handle.id, "response_start", [FINE]);
  const again = await next.open({ id: handle.id });
  expect(await again.resume({ output: MOOD }).result()).toMatchObject({ output: { mood: "fine" } });
});

test("the value of a turn from before this server started is in its result", async () => {
  const { remote, store } = await served({ script: [{ output: [PARIS] }] });
  const handle = await remote.open();
  const turn = handle.send("Weather?", { output: WEATHER });
  const before = await turn.result();
  const { server } = await served({ store });
  const answer = await ask(server, { path: `/api/sessions/${handle.id}/turns/${turn.id}` });
  expect(JSON.parse(answer.text)).toMatchObject({ state: "done", result: before });
});

test.each(["retry", "edit", "resume"])("%s refuses a schema of an array", async (route) => {
  const { remote, server, store } = await served({ script: [{ output: [PARIS] }] });
  const handle = await remote.open();
  await handle.send("Weather?", { output: WEATHER }).result();
  const body = {
    ...(route === "edit" ? { seq: await messageIn(handle), input: "x" } : {}),
    output: { type: "array" },
  };
  const place =
    route === "resume" ? (await cutAt(store, handle.id, "response_start", [PARIS])).server : server;
  const answer = await ask(place, {
    method: "POST",
    path: `/api/sessions/${handle.id}/${route}`,
    body: JSON.stringify(body),
  });
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
    400,
    { error: { code: "schema_invalid" } },
  ]);
});

test("the same retry sent again with another schema is another request", async () => {
  const { remote, server } = await served({ script: [{ output: [PARIS] }, { output: [PARIS] }] });
  const handle = await remote.open();
  await handle.send("Weather?", { output: WEATHER }).result();
  const path = `/api/sessions/${handle.id}/retry`;
  const retry = (output?: object) =>
    ask(server, { method: "POST", path, body: JSON.stringify({ turn: "again", output }) });
  const [first, second] = await Promise.all([retry(), retry()]);
  expect([first.status, second.status]).toEqual([202, 202]);
});
