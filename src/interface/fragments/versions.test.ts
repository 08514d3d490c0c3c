import { expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import { history, say, scriptedSession, think } from "../../../test/contracts/session-fixture.ts";
import type { Session } from "../../runtime/session/index.ts";
import { type BlockVersion, BlockList } from "./index.ts";

async function versionsOf(session: Session): Promise<Readonly<Record<string, unknown>>> {
  const list = new BlockList();
  list.add(await history(session));
  const { messages, answers, undone } = list.versions();
  return {
    messages: [...messages.values()].map((all) => all.map(told)),
    answers: [...answers.values()].map((all) => all.map(told)),
    undone: undone.map(told),
  };
}

const told = ({ text, turns, thoughts, shown }: BlockVersion): string =>
  `${text} · ${turns} turns · ${thoughts} thoughts${shown ? " · shown" : ""}`;

const answers = ["a", "b", "c", "d", "e"].map((text) => ({ output: [think(text), say(`Answer ${text}`)] }));

test("an edit makes a version of the message, with all that followed it", async () => {
  const { session } = await scriptedSession(answers);
  await session.send("one").result();
  await session.send("two").result();
  expect(await versionsOf(session)).toEqual({ messages: [], answers: [], undone: [] });
  await session.edit(1, "uno").result();
  expect(await versionsOf(session)).toEqual({
    messages: [["one · 2 turns · 2 thoughts", "uno · 1 turns · 1 thoughts · shown"]],
    answers: [],
    undone: [],
  });
});

test("a retry makes a version of the answer, and says so before the new one has a word", async () => {
  const { session } = await scriptedSession(answers);
  await session.send("one").result();
  await session.retry().result();
  expect(await versionsOf(session)).toEqual({
    messages: [],
    answers: [["Answer a · 1 turns · 1 thoughts", "Answer b · 1 turns · 1 thoughts · shown"]],
    undone: [],
  });
  const list = new BlockList();
  const events = await history(session);
  list.add(events.slice(0, events.findIndex(({ type }) => type === "branch") + 1));
  expect([...list.versions().answers.values()].flat().map(told)).toEqual([
    "No answer yet · 1 turns · 0 thoughts · shown",
    "Answer a · 1 turns · 1 thoughts",
  ]);
  expect(list.versions().undone).toEqual([]);
});

test("what an undo took back stays in reach until something else follows, and then as a version", async () => {
  const { session } = await scriptedSession(answers);
  await session.send("one").result();
  await session.send("two").result();
  await session.undo();
  expect(await versionsOf(session)).toMatchObject({ messages: [], undone: ["two · 1 turns · 1 thoughts"] });
  await session.send("zwei").result();
  expect(await versionsOf(session)).toEqual({
    messages: [["two · 1 turns · 1 thoughts", "zwei · 1 turns · 1 thoughts · shown"]],
    answers: [],
    undone: [],
  });
});

test("a compaction makes no versions", async () => {
  const { session } = await scriptedSession(answers);
  await session.send("one").result();
  await session.send("two").result();
  await session.compact();
  await session.send("three").result();
  expect(await versionsOf(session)).toEqual({ messages: [], answers: [], undone: [] });
});

test("versions are computed again only when the log gets a new place or a response ends", () => {
  const log = new LogBuilder().settings().user("hi").respond({ status: "open" });
  const list = new BlockList();
  list.add(log.events);
  const before = list.versions();
  const live = { turn: log.turn, response: log.response, outputIndex: 0 };
  list.add([
    { type: "text_start", ...live },
    { type: "text_delta", ...live, delta: "half" },
  ]);
  expect(list.versions()).toBe(before);
  log.endTurn();
  list.add(log.events.slice(-1));
  expect(list.versions()).not.toBe(before);
});

test("a session of 5,000 turns that was retried 5,000 times has its versions at once", () => {
  const log = new LogBuilder().settings();
  for (let turn = 0; turn < 5000; turn += 1) {
    log.user(`message ${turn}`);
    const seq = log.lastSeq;
    log.respond({ items: [{ type: "reasoning" }, { type: "message", text: `first ${turn}` }] }).endTurn();
    log
      .branch(seq)
      .respond({ items: [{ type: "message", text: `second ${turn}` }] })
      .endTurn();
  }
  const list = new BlockList();
  list.add(log.events);
  const began = performance.now();
  const { answers: all } = list.versions();
  expect(performance.now() - began).toBeLessThan(3000);
  expect(all.size).toBe(5000);
});
