/** Every list of sessions, and every lookup in one, works without opening a log. */

import { expect, test } from "vitest";

import { SessionHost } from "../../src/access/server/session-host.ts";
import { systemClock } from "../../src/base/support/index.ts";
import { tapStore } from "../../src/diagnostics/trace/log-tap.ts";
import { createAgent, emulator } from "../../src/index.ts";
import { chooseSession, resolveSession } from "../../src/interface/cli/choose-session.ts";
import { rowsOf } from "../../src/interface/cli/session-rows.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { type AppendDraft, memoryStore, type Store } from "../../src/runtime/log/index.ts";
import { HOME, LogBuilder } from "./log-builder.ts";

const CWD = "/work";
const costOf = (): number => 0.25;
const nothing = (): undefined => undefined;
const open = (): Promise<never> => Promise.reject(new Error("a log was opened"));

/** Two sessions whose logs cannot be opened. */
async function sealed(): Promise<{ readonly store: Store; readonly log: LogBuilder }> {
  const store = memoryStore();
  const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 6, reasoningTokens: 2 };
  const log = new LogBuilder()
    .add({ type: "session_start", session: "s_one", root: "s_one", writer: "test", cwd: CWD })
    .add({ type: "title", title: "The title" })
    .user("hello")
    .respond({ usage })
    .endTurn()
    .user("and now?");
  const other = new LogBuilder().add({ type: "title", title: "Another" });
  for (const [id, { events }] of [
    ["s_two", other],
    ["s_one", log],
  ] as const)
    await store.create(id, { events: events as readonly AppendDraft[], blobs: new Map() });
  return { store: { ...store, open }, log };
}

const shown = { id: "s_one", title: "The title", cwd: CWD };

test("`sessions list` and the picker get their rows without opening a log", async () => {
  const { store } = await sealed();
  const rows = [];
  for await (const row of rowsOf(store, CWD)) rows.push(row);
  expect(rows).toMatchObject([{ ...shown, turns: 2, problem: undefined }]);
});

test("the last session of a directory, a title and an id prefix are resolved without opening a log", async () => {
  const { store } = await sealed();
  const warned: string[] = [];
  const warn = (text: string): void => void warned.push(text);
  expect(await chooseSession(store, { continueLast: true, id: undefined }, CWD, warn)).toBe("s_one");
  expect(await resolveSession(store, { name: "The title", last: false }, CWD, warn)).toBe("s_one");
  expect(await resolveSession(store, { name: "s_t", last: false }, CWD, warn)).toBe("s_two");
  expect(await resolveSession(store, { name: undefined, last: true }, CWD, warn)).toBe("s_one");
  expect(warned).toEqual([]);
});

test("an agent lists its sessions without opening a log", async () => {
  const { store } = await sealed();
  const found = [];
  for await (const one of createAgent({ model: emulator() }).sessions(store)) found.push(one);
  expect(found.find(({ id }) => id === "s_one")).toEqual({
    ...shown,
    modifiedAt: expect.any(Number) as number,
    bytes: expect.any(Number) as number,
  });
});

test("the server's list has the cost from the facts of the log without opening one", async () => {
  const { store, log } = await sealed();
  const parts = { store, costOf, clock: systemClock } as unknown as ConstructorParameters<
    typeof SessionHost
  >[0];
  const host = new SessionHost(parts);
  const { usage, costUsd, model } = factsOf(log.events, costOf);
  expect((await host.list({ limit: 5, search: "WORK" })).sessions).toEqual([
    {
      ...shown,
      modifiedAt: expect.any(Number) as number,
      bytes: expect.any(Number) as number,
      usage,
      costUsd,
      model,
      turns: 1,
    },
  ]);
  expect([costUsd, model]).toEqual([0.25, `${HOME.provider}/${HOME.model}`]);
  await host.stop();
});

test("a traced store passes search and limit on to its list", async () => {
  const { store } = await sealed();
  const tapped = tapStore(store, { opened: nothing, appended: nothing, blob: nothing });
  const found: string[] = [];
  for await (const { id } of tapped.list({ search: "another", limit: 1 })) found.push(id);
  expect(found).toEqual(["s_two"]);
});
