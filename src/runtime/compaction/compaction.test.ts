import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  eventsOf,
  history,
  inputOf,
  ofType,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { activePath } from "../fold/index.ts";
import { memoryStore } from "../log/index.ts";
import type { Agent, Session } from "../session/index.ts";

const textsOf = (items: readonly Record<string, unknown>[]): readonly string[] =>
  items.flatMap((item) => {
    const [part] = (item["content"] ?? []) as readonly { readonly text?: string }[];
    return item["type"] === "message" ? [part?.text ?? ""] : [];
  });

const summaryIn = (items: readonly Record<string, unknown>[]): string =>
  textsOf(items).find((text) => text.startsWith("Summary of the conversation so far")) ?? "";

const pathOf = async (session: Session): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const event of session.events({ path: "active" })) types.push(event.type);
  return types;
};

const small = (contextTokens: number) => ({ models: { "emu-reasoner": { contextTokens } } });
const words = (count: number): string => "word ".repeat(count);

const three = [
  { output: [think("A"), say("answer a")] },
  { output: [think("B"), say("answer b")] },
  { output: [say("They greeted each other twice.")] },
  { output: [think("C"), say("answer c")] },
];

describe("a requested compaction", () => {
  test("asks the model off the path, and keeps the last turn verbatim and everything in the log", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    const before = await history(session);
    await session.compact({ instructions: "In one sentence." });
    const after = await history(session);
    expect(after.slice(0, before.length)).toEqual(before);
    const [asked] = ofType(after, "user_message").filter(({ purpose }) => purpose === "compaction");
    expect(asked).toMatchObject({ by: "runtime" });
    expect(JSON.stringify(asked?.content)).toContain("In one sentence.");
    expect(ofType(after, "response_start").map(({ purpose }) => purpose)).toEqual([
      undefined,
      undefined,
      "compaction",
    ]);
    const second = ofType(after, "user_message")[1]?.seq;
    expect(ofType(after, "compaction")).toMatchObject([
      { before: second, summary: "They greeted each other twice.", by: "model", turn: asked?.turn },
    ]);
    expect(ofType(after, "turn_end").at(-1)).toMatchObject({ status: "completed", turn: asked?.turn });
    expect((await pathOf(session)).slice(-3)).toEqual(["branch", "compaction", "turn_end"]);
    // It reads what it will replace, with the same input as before, so the prompt cache is not lost.
    const read = inputOf(emulator, 2).slice(0, -1);
    expect(textsOf(read)).toEqual(["one", "answer a"]);
    expect(inputOf(emulator, 1).slice(0, read.length)).toEqual(read);

    await session.send("three").result();
    const sent = inputOf(emulator, 3);
    expect(summaryIn(sent)).toBe("Summary of the conversation so far:\n\nThey greeted each other twice.");
    expect(textsOf(sent).slice(1)).toEqual(["two", "answer b", "three"]);
    expect(sent.filter((item) => item["type"] === "reasoning")).toHaveLength(1);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("with keepTurns 0 keeps only the last message verbatim, and a single turn can be compacted", async () => {
    for (const options of [{ keepTurns: 0 }, {}]) {
      const { session, emulator } = await scriptedSession([
        { output: [say("answer a")] },
        { output: [say("S.")] },
        { output: [say("answer b")] },
      ]);
      await session.send("one").result();
      await session.compact(options);
      await session.send("two").result();
      expect(textsOf(inputOf(emulator, 2))).toEqual([
        "Summary of the conversation so far:\n\nS.\n\n[The user's last message:]\none",
        "two",
      ]);
    }
  });

  test("includes the previous summary the next time", async () => {
    const { session, emulator } = await scriptedSession([
      { output: [say("answer a")] },
      { output: [say("First summary.")] },
      { output: [say("answer b")] },
      { output: [say("Second summary.")] },
      { output: [say("answer c")] },
    ]);
    await session.send("one").result();
    await session.compact({ keepTurns: 0 });
    await session.send("two").result();
    await session.compact({ keepTurns: 0 });
    expect(summaryIn(inputOf(emulator, 3))).toContain("First summary.");
    await session.send("three").result();
    const sent = textsOf(inputOf(emulator, 4)).join("\n");
    expect(sent).toContain("Second summary.");
    expect(sent).not.toContain("First summary.");
  });

  test("is refused if there is nothing to compact, or the number is invalid", async () => {
    const { session } = await scriptedSession([{ output: [say("answer a")] }]);
    await expect(session.compact()).rejects.toMatchObject({ code: "nothing_to_compact" });
    await session.send("one").result();
    const before = await history(session);
    await expect(session.compact({ keepTurns: 1 })).rejects.toMatchObject({ code: "nothing_to_compact" });
    await expect(session.compact({ keepTurns: 1.5 })).rejects.toMatchObject({ code: "keep_turns_invalid" });
    expect(await history(session)).toEqual(before);
  });

  test("leaves the conversation unchanged if it is cancelled", async () => {
    const { session, emulator } = await scriptedSession([
      { output: [say("answer a")] },
      { output: [say("never read")] },
      { output: [say("answer b")] },
    ]);
    await session.send("one").result();
    const stop = new AbortController();
    const seen = (async () => {
      for await (const event of session.follow({ signal: stop.signal })) {
        if (event.type === "response_start" && event.purpose !== undefined) stop.abort();
      }
    })();
    await expect(session.compact({ signal: stop.signal })).rejects.toMatchObject({
      code: "compaction_cancelled",
    });
    await seen;
    expect(ofType(await history(session), "compaction")).toEqual([]);
    await session.send("two").result();
    expect(textsOf(inputOf(emulator, -1 + emulator.exchanges.length))).toEqual(["one", "answer a", "two"]);
  });

  test("uses a digest of the log if no model answers, and says so", async () => {
    const { session, emulator } = await scriptedSession([{ output: [say("answer a")] }], {
      limits: { maxRetries: 0 },
    });
    await session.send("my name is Ada").result();
    emulator.addFaults({ type: "http", status: 500 });
    await session.compact();
    const events = await history(session);
    const [made] = ofType(events, "compaction");
    expect(made?.by).toBe("log");
    expect(made?.summary).toMatch(/^\[Digest made from the log/);
    expect(made?.summary).toContain("User: my name is Ada");
    expect(made?.summary).toContain("Assistant: answer a");
    expect(ofType(events, "notice").map(({ code }) => code)).toContain("compaction_digest");
    expect(await session.send("hello").result()).toMatchObject({ status: "completed" });
  });

  test("runs no tools if the model only calls tools", async () => {
    let ran = 0;
    const { session } = await scriptedSession(
      [{ output: [say("answer a")] }, { output: [call("look")] }, { output: [say("answer b")] }],
      { tools: [anyTool("look", () => (ran += 1))] },
    );
    await session.send("one").result();
    await session.compact();
    expect(ran).toBe(0);
    expect(ofType(await history(session), "compaction")).toMatchObject([{ by: "log" }]);
    expect(await session.send("two").result()).toMatchObject({ status: "completed" });
  });
});

describe("a compaction and other changes of history", () => {
  test("an undo across it restores what it replaced", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    await session.compact();
    await session.undo();
    await session.send("zwei").result();
    expect(textsOf(inputOf(emulator, 3))).toEqual(["one", "answer a", "zwei"]);
  });

  test("a fork after it has its summary and nothing of the exchange", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    await session.compact();
    const child = await session.fork();
    const copied = await history(child);
    expect(copied.filter((event) => "purpose" in event)).toEqual([]);
    expect(copied.map(({ type }) => type)).not.toContain("branch");
    await child.send("three").result();
    expect(textsOf(inputOf(emulator, 3)).slice(1)).toEqual(["two", "answer b", "three"]);
    expect(summaryIn(inputOf(emulator, 3))).toContain("They greeted");
    expect(emulator.report().totals.refused).toBe(0);
    await child.close();
  });

  test("keeping more turns than are left does not bring the front back", async () => {
    const { session, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    await session.compact();
    await session.keepLastTurns(5);
    await session.send("three").result();
    expect(textsOf(inputOf(emulator, 3)).slice(1)).toEqual(["two", "answer b", "three"]);
  });

  test("a compaction on a branch applies to that branch only", async () => {
    const { session } = await scriptedSession(three);
    await session.send("one").result();
    const first = (await history(session)).at(-1)?.seq ?? -1;
    await session.send("two").result();
    await session.compact();
    await session.checkout({ to: first });
    expect((await session.preview()).items.map(({ head }) => head)).toEqual(["one", "", "answer a"]);
  });

  test("the next change of history abandons a compaction that a crash interrupted", async () => {
    const { session, agent, emulator } = await scriptedSession(three);
    await session.send("one").result();
    await session.send("two").result();
    await session.compact();
    const events = await history(session);
    const [made] = ofType(events, "compaction");
    const asked = events.findIndex((event) => "purpose" in event);
    for (let length = asked + 1; length <= (made?.seq ?? 0); length += 1) {
      const store = memoryStore();
      const log = await store.open("crashed", { mode: "write" });
      await log.append(events.slice(0, length) as never);
      await log.close();
      const reopened = await agent.open({ id: "crashed", store });
      expect(reopened.interrupted).toBe(true);
      await reopened.keepLastTurns(2);
      const path = activePath(await history(reopened));
      expect(path.filter((event) => "purpose" in event)).toEqual([]);
      expect((await reopened.preview()).violations).toEqual([]);
      await reopened.close();
    }
    expect(emulator.report().totals.refused).toBe(0);
  });
});

/** Opens the log as it was after each event of the exchange that requests the summary. */
async function afterEachCrash(
  session: Session,
  agent: Agent,
  judge: (reopened: Session) => Promise<void>,
): Promise<void> {
  const events = await history(session);
  const [made] = ofType(events, "compaction");
  const asked = events.findIndex((event) => "purpose" in event);
  expect(asked).toBeGreaterThan(0);
  for (let length = asked + 1; length <= (made?.seq ?? 0); length += 1) {
    const store = memoryStore();
    await store.create("crashed", { events: events.slice(0, length) as never, blobs: new Map() });
    const reopened = await agent.open({ id: "crashed", store });
    expect(reopened.interrupted).toBe(true);
    await judge(reopened);
    expect(reopened.interrupted).toBe(false);
    expect((await reopened.preview()).violations).toEqual([]);
    await reopened.close();
  }
}

describe("resume", () => {
  test("finishes a compaction that a crash interrupted", async () => {
    const answers = Array.from({ length: 20 }, () => ({ output: [say("They greeted each other.")] }));
    const { session, agent, emulator } = await scriptedSession([...three.slice(0, 2), ...answers]);
    await session.send("one").result();
    await session.send("two").result();
    await session.compact();
    await afterEachCrash(session, agent, async (reopened) => {
      expect(await reopened.resume().result()).toMatchObject({ status: "completed" });
      const path = activePath(await history(reopened));
      expect(ofType(path, "compaction")).toMatchObject([
        { summary: "They greeted each other.", by: "model" },
      ]);
      expect(path.filter((event) => "purpose" in event)).toEqual([]);
      expect(() => reopened.resume()).toThrow(expect.objectContaining({ code: "nothing_to_resume" }));
    });
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("continues the turn that had run full when the process died during its compaction", async () => {
    const answers = Array.from({ length: 40 }, () => ({ output: [say("done")] }));
    const { session, agent } = await scriptedSession(
      [...["A", "B", "C"].map((text) => ({ output: [think(text), call("look")] })), ...answers],
      { emulator: small(2000), tools: [anyTool("look", () => words(400))] },
    );
    await session.send("look around").result();
    await afterEachCrash(session, agent, async (reopened) => {
      expect(await reopened.resume().result()).toMatchObject({ status: "completed", text: "done" });
      const path = activePath(await history(reopened));
      expect(ofType(path, "compaction")).toHaveLength(1);
      expect(ofType(path, "user_message").at(-1)).toMatchObject({ by: "runtime" });
      expect(ofType(path, "turn_end").at(-1)).toMatchObject({ status: "completed" });
    });
  });
});

describe("a context that fills", () => {
  test("is announced once when it passes 70 %, and shown to interfaces", async () => {
    const { session } = await scriptedSession(
      [1, 2, 3, 4].map(() => ({ output: [say("ok")] })),
      { limits: { contextTokens: 400 }, compaction: { automatic: false } },
    );
    expect(session.context).toBeUndefined();
    await session.send("short").result();
    expect(session.context?.fraction).toBeLessThan(0.7);
    const events = await eventsOf(session.send(words(240)));
    expect(ofType(events, "usage").at(-1)?.context).toEqual(session.context);
    await session.send("a").result();
    const notices = ofType(await history(session), "notice");
    expect(notices.map(({ code }) => code)).toEqual(["context_pressure"]);
    expect(notices[0]?.message).toMatch(/^\d\d % of the model's context is used/);
    expect(session.context).toMatchObject({ contextTokens: 400 });
    expect(ofType(await history(session), "compaction")).toEqual([]);
  });

  test("is compacted before the next turn from 85 % on, visibly in that turn", async () => {
    const { session, emulator } = await scriptedSession(
      [
        { output: [say("a")] },
        { output: [say("Words were said.")] },
        { output: [say("b")] },
        { output: [say("c")] },
      ],
      { limits: { contextTokens: 400 } },
    );
    await session.send(words(280)).result();
    expect(session.context?.fraction).toBeGreaterThan(0.85);
    const events = await eventsOf(session.send("next"));
    expect(ofType(events, "compaction")).toMatchObject([{ by: "model" }]);
    expect(textsOf(inputOf(emulator, 2)).join("\n")).toContain("Words were said.");
    expect(inputOf(emulator, 2)).toHaveLength(2);
    await session.send("more").result();
    expect(ofType(await history(session), "compaction")).toHaveLength(1);
  });
});

describe("a request that is too long", () => {
  test("inside a turn ends it as incomplete, compacts at the edge of a group, and continues automatically", async () => {
    let looks = 0;
    const { session, emulator } = await scriptedSession(
      [
        { output: [think("A"), call("look")] },
        { output: [think("B"), call("look")] },
        { output: [think("C"), call("look")] },
        { output: [say("Looked three times.")] },
        { output: [say("done")] },
      ],
      {
        emulator: small(2000),
        tools: [anyTool("look", () => `${(looks += 1)} ${words(400)}`)],
      },
    );
    const turn = session.send("look around");
    const events = await eventsOf(turn);
    expect(await turn.result()).toMatchObject({ status: "completed", text: "done" });
    expect(looks).toBe(3);
    const ends = ofType(events, "turn_end").map(({ status, reason }) => [status, reason]);
    expect(ends).toEqual([
      ["incomplete", "context"],
      ["completed", undefined],
      ["completed", undefined],
    ]);
    expect(ofType(events, "user_message").at(-1)).toMatchObject({ by: "runtime" });
    expect(ofType(events, "compaction").at(-1)?.summary).toContain("look around");
    const rules = emulator.report().requests.flatMap(({ rule }) => (rule === null ? [] : [rule]));
    expect(new Set(rules).size).toBe(1);
    expect(await session.send("and now?").result()).toMatchObject({ status: "completed" });
  });

  test("at its first step keeps the message and summarises everything before it", async () => {
    const { session, emulator } = await scriptedSession(
      [
        { output: [say(`a ${words(500)}`)] },
        { output: [say("It was wordy.")] },
        { output: [say("answered")] },
      ],
      { emulator: small(1300) },
    );
    await session.send("tell me much").result();
    const question = `and this ${words(600)}`;
    expect(await session.send(question).result()).toMatchObject({ status: "completed", text: "answered" });
    const sent = inputOf(emulator, -1 + emulator.exchanges.length);
    expect(textsOf(sent)).toContain(question);
  });

  test("because of a single message ends with a clear error, and the next turn works", async () => {
    for (const turnsBefore of [0, 2]) {
      const { session } = await scriptedSession(undefined, { emulator: small(1500) });
      for (let index = 0; index < turnsBefore; index += 1) await session.send("hello").result();
      const result = await session.send(`secret ${words(4000)}`).result();
      expect(result).toMatchObject({ status: "incomplete", reason: "context", error: { class: "LIMIT" } });
      expect(result.error?.message).toContain("the message alone is longer");
      const events = await history(session);
      expect(ofType(events, "notice").map(({ code }) => code)).toContain("context_too_small");
      expect(ofType(events, "compaction").at(-1)?.summary).toContain("secret word");
      expect(await session.send("hello again").result()).toMatchObject({ status: "completed" });
    }
  });

  test("because the instructions alone do not fit ends after a bounded number of requests", async () => {
    const { session, emulator } = await scriptedSession(undefined, {
      emulator: small(300),
      system: words(2000),
    });
    const result = await session.send("hello").result();
    expect(result).toMatchObject({ status: "incomplete", reason: "context" });
    expect(emulator.exchanges.length).toBeLessThan(8);
    expect(await session.send("hello").result()).toMatchObject({ status: "incomplete", reason: "context" });
  });

  test("stays incomplete if compaction is switched off", async () => {
    const { session, emulator } = await scriptedSession(undefined, {
      emulator: small(300),
      compaction: { automatic: false },
    });
    expect(await session.send(words(1000)).result()).toMatchObject({
      status: "incomplete",
      reason: "context",
    });
    expect(emulator.exchanges).toHaveLength(1);
  });

  test("even for its summary is shortened from the front until it fits", async () => {
    const { session, emulator } = await scriptedSession(undefined, {
      emulator: small(3000),
      compaction: { automatic: false },
    });
    for (const name of ["one", "two", "three"]) await session.send(`${name} ${words(600)}`).result();
    expect(await session.send(`four ${words(600)}`).result()).toMatchObject({ reason: "context" });
    await session.compact({ keepTurns: 0 });
    const [made] = ofType(await history(session), "compaction").slice(-1);
    expect(made?.by).toBe("model");
    expect(made?.summary).toContain("too long to be read for this summary");
    expect(made?.summary).toContain("User: one word");
    expect(await session.send("and?").result()).toMatchObject({ status: "completed" });
    expect(emulator.report().requests.filter(({ verdict }) => verdict === "refused").length).toBeGreaterThan(
      1,
    );
  });
});
