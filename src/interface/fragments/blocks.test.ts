import { describe, expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import { weatherTool } from "../../../test/support/weather-tool.ts";
import type { LoggedEvent, SessionEvent } from "../../base/events/index.ts";
import { systemClock } from "../../base/support/index.ts";
import { type Emulator, type Fault, startEmulator } from "../../emulator/index.ts";
import { memoryStore } from "../../runtime/log/index.ts";
import { openai } from "../../runtime/models/index.ts";
import { createAgent, type Session } from "../../runtime/session/index.ts";
import { BlockList, blocksOf, reasoningLabel } from "./index.ts";

const CUT: Fault = { type: "cut", at: { where: "after", unit: "item", index: 0 } };

interface Played {
  readonly live: readonly SessionEvent[];
  readonly logged: readonly LoggedEvent[];
}

/** Plays turns and returns the events a live viewer received and the events of the log. */
async function play(
  prompts: readonly string[],
  faults: readonly Fault[],
  during?: (session: Session, event: SessionEvent) => void,
): Promise<Played> {
  const emulator: Emulator = await startEmulator({ faults });
  const clock = { ...systemClock, sleep: async () => undefined };
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
    tools: [weatherTool],
    clock,
  });
  const session = await agent.open({ store: memoryStore() });
  const live: SessionEvent[] = [];
  for (const prompt of prompts) {
    const turn = session.send(prompt);
    for await (const event of turn) {
      live.push(event);
      during?.(session, event);
    }
  }
  const logged: LoggedEvent[] = [];
  for await (const event of session.events()) logged.push(event);
  await session.close();
  await emulator.close();
  return { live, logged };
}

describe("a reload shows the same blocks", () => {
  const cases: readonly (readonly [string, readonly string[], readonly Fault[]])[] = [
    ["a tool turn and a follow-up", ["What is the weather in Paris and in Rome?", "Think of a number."], []],
    ["a stream cut after its first item, then retried", ["What is the weather in Paris?"], [CUT]],
    [
      "an incomplete response",
      ["Tell me a long story"],
      [{ type: "incomplete", reason: "max_output_tokens", items: 1 }],
    ],
  ];
  test.each(cases)("%s", async (_name, prompts, faults) => {
    const { live, logged } = await play(prompts, faults);
    expect(live.length).toBeGreaterThan(logged.length);
    expect(blocksOf(live, { writerAlive: true })).toEqual(blocksOf(logged, { writerAlive: false }));
  });

  test("even if the stream is cut after any event", async () => {
    for (let index = 0; index < 60; index += 4) {
      const fault: Fault = { type: "end", at: { where: "after", unit: "event", index } };
      const { live, logged } = await play(["What is the weather in Paris?"], [fault]);
      expect(blocksOf(live, { writerAlive: true }), `cut after event ${index}`).toEqual(
        blocksOf(logged, { writerAlive: false }),
      );
    }
  });

  test("even if a person stops the turn at any live event", async () => {
    const whole = await play(["What is the weather in Paris?"], []);
    for (let at = 0; at < whole.live.length; at += 7) {
      let heard = 0;
      const { live, logged } = await play(["What is the weather in Paris?"], [], (session, event) => {
        heard += 1;
        if (heard === at + 1 && event.type !== "turn_end") void session.close();
      });
      expect(blocksOf(live, { writerAlive: true }), `stopped at event ${at}`).toEqual(
        blocksOf(logged, { writerAlive: false }),
      );
    }
  });
});

describe("generating", () => {
  test("is true only while the response is open and a writer is alive", async () => {
    const { live } = await play(["What is the weather in Paris?"], []);
    const list = new BlockList();
    let sawGenerating = 0;
    for (const event of live) {
      list.add([event]);
      const blocks = list.view({ writerAlive: true });
      if (blocks.some(({ generating }) => generating)) sawGenerating += 1;
      // With the same events and a dead writer, no spinner keeps running.
      expect(list.view({ writerAlive: false }).some(({ generating }) => generating)).toBe(false);
    }
    expect(sawGenerating).toBeGreaterThan(3);
    expect(list.view({ writerAlive: true }).some(({ generating }) => generating)).toBe(false);
  });

  test("does not depend on folding: a block has no such field", async () => {
    const { logged } = await play(["What is the weather in Paris?"], []);
    for (const block of blocksOf(logged, { writerAlive: true })) {
      expect(Object.keys(block)).not.toContain("expanded");
      expect(Object.keys(block)).not.toContain("collapsed");
    }
  });
});

test("a call whose arguments were repaired shows what it runs with, and what the model wrote", () => {
  const log = new LogBuilder().user("go").respond({ items: [{ type: "call", callId: "c1" }] });
  const calls = (): unknown =>
    blocksOf(log.events, { writerAlive: true })
      .filter((block) => block.kind === "tool")
      .map((block) => [block.arguments, block.written]);
  const [[original]] = calls() as [[string]];
  const base = { turn: log.turn, response: log.response, callId: "c1", tool: "look" };
  log.add({
    type: "permission_request",
    ...base,
    requestId: "q1",
    access: "execute",
    arguments: '{"n":1}',
    argumentsHash: "",
  });
  expect(calls()).toEqual([['{"n":1}', original]]);
  log.add({ type: "tool_start", ...base, idempotencyKey: "k", arguments: '{"n":1}' }).result("c1");
  expect(calls()).toEqual([['{"n":1}', original]]);
});

test("the question of a tool waits only while its call runs in a live process, and keeps its answer", () => {
  const log = new LogBuilder().user("run").respond({ items: [{ type: "call", callId: "c1" }] });
  const base = { turn: log.turn, response: log.response, callId: "c1" };
  const asked = { server: "s", message: "m", mode: "url", url: "https://a.example/" } as const;
  const start = { type: "tool_start", ...base, tool: "look", idempotencyKey: "k" } as const;
  const shown = (writerAlive: boolean): unknown =>
    blocksOf(log.events, { writerAlive }).flatMap((block) =>
      block.kind === "tool"
        ? (block.elicitations ?? []).map((one) => [one.requestId, one.waits, one.action, one.by])
        : [],
    );
  log.add(start);
  log.add({ type: "elicitation_request", ...base, requestId: "a", ...asked });
  expect(shown(true)).toEqual([["a", true, undefined, undefined]]);
  expect(shown(false)).toEqual([["a", false, undefined, undefined]]);
  log.add(start); // the call begins again after a crash
  log.add({ type: "elicitation_request", ...base, requestId: "b", ...asked });
  expect(shown(true)).toEqual([
    ["a", false, undefined, undefined],
    ["b", true, undefined, undefined],
  ]);
  log.add({ type: "elicitation_answer", ...base, requestId: "b", action: "decline", by: "policy" });
  log.add({ type: "elicitation_request", ...base, requestId: "c", ...asked });
  log.result("c1");
  expect(shown(true)).toEqual([
    ["a", false, undefined, undefined],
    ["b", false, "decline", "policy"],
    ["c", false, undefined, undefined],
  ]);
});

test("a superseded attempt is marked, and its retry countdown is gone", async () => {
  const { live } = await play(["What is the weather in Paris?"], [CUT]);
  expect(live.some(({ type }) => type === "retry")).toBe(true);
  const blocks = blocksOf(live, { writerAlive: true });
  expect(blocks.some(({ superseded }) => superseded)).toBe(true);
  expect(blocks.some((block) => block.kind === "notice" && block.code === "retry")).toBe(false);
});

test("a path that was left is shown again when the session returns to it", async () => {
  const emulator = await startEmulator();
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
  });
  const session = await agent.open({ store: memoryStore() });
  const shown = async (): Promise<readonly string[]> => {
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    return blocksOf(events, { writerAlive: true }).map(({ id }) => id);
  };
  await session.send("Hello").result();
  const before = await shown();
  const message = Number(before[0]?.slice("user/".length));
  await session.edit(message, "Good evening").result();
  const edited = await shown();
  expect(edited).not.toEqual(before);
  await session.checkout({ to: message });
  expect(await shown()).toEqual(before);
  await session.checkout({ to: Number(edited[0]?.slice("user/".length)) });
  expect(await shown()).toEqual(edited);
  await session.close();
  await emulator.close();
});

test("labels: the current title while generating, the time afterwards", async () => {
  const { live, logged } = await play(["What is the weather in Paris?"], []);
  const list = new BlockList();
  const titles = new Set<string>();
  for (const event of live) {
    list.add([event]);
    for (const block of list.view({ writerAlive: true })) {
      if (block.kind === "reasoning" && block.generating) titles.add(reasoningLabel(block));
    }
  }
  expect([...titles]).toEqual(
    expect.arrayContaining(["Thinking…", "Checking the weather", "Choosing the tool"]),
  );
  const done = blocksOf(logged, { writerAlive: false }).find((block) => block.kind === "reasoning");
  expect(done?.kind === "reasoning" ? reasoningLabel(done) : "").toMatch(
    /^Thought for [\d.]+(?:s| ms) · 2 parts · \d+ tokens$/,
  );
});

test("a turn that continues after the finished steps of a failed one shows each step once, and no failure", async () => {
  const emulator = await startEmulator({ faults: [{ type: "none" }, { type: "http", status: 401 }] });
  const agent = createAgent({
    model: openai("emu-reasoner", { apiKey: "key-for-tests", baseUrl: emulator.baseUrl }),
    tools: [weatherTool],
  });
  const session = await agent.open({ store: memoryStore() });
  const shown = async (): Promise<readonly string[]> => {
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    return blocksOf(events, { writerAlive: true }).map((block) =>
      block.kind === "turn_end" ? block.status : `${block.kind} ${block.id}`,
    );
  };
  await session.send("What is the weather in Paris?").result();
  const failed = await shown();
  expect(failed.at(-1)).toBe("failed");
  await session.retry().result();
  const kept = failed.slice(0, -1);
  expect((await shown()).slice(0, kept.length)).toEqual(kept);
  expect((await shown()).filter((kind) => kind.startsWith("tool ") || kind === "failed")).toHaveLength(1);
  expect((await shown()).at(-1)).toBe("completed");
  await session.close();
  await emulator.close();
});

test("after a reset, only what follows is shown, as if it came first", () => {
  const log = new LogBuilder()
    .settings()
    .user("hi")
    .respond({ items: [{ type: "reasoning" }], status: "open" });
  const live = { turn: "tn_1", response: "rsp_1", outputIndex: 1 };
  const list = new BlockList();
  list.add([...log.events, { type: "text_start", ...live }, { type: "text_delta", ...live, delta: "half" }]);
  const other = new LogBuilder().settings().user("another");
  list.add([{ type: "reset" }, ...other.events]);
  expect(list.view({ writerAlive: true })).toEqual(blocksOf(other.events, { writerAlive: true }));
});

test("a call and the sub-agent that it ran name each other's sessions", () => {
  const log = new LogBuilder().user("go").respond({ items: [{ type: "call", callId: "c1" }] });
  const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 };
  log.add({
    type: "tool_result",
    turn: "tn_1",
    response: "rsp_1",
    callId: "c1",
    status: "ok",
    text: "done",
    spent: [{ session: "sub_1", usage }],
  });
  expect(blocksOf(log.events, { writerAlive: false })).toContainEqual(
    expect.objectContaining({ kind: "tool", result: expect.objectContaining({ sessions: ["sub_1"] }) }),
  );
  const sub = new LogBuilder().add({
    type: "session_start",
    session: "sub_1",
    root: "sub_1",
    writer: "test",
    parent: { session: "s1", seq: 3, call: "c1", depth: 1 },
  });
  expect(blocksOf(sub.events, { writerAlive: false })).toMatchObject([
    { kind: "notice", code: "sub_agent", text: "a sub-agent of session s1, called by its event 3" },
  ]);
});

test("a result shows its images and what is for the person", () => {
  const log = new LogBuilder().user("go").respond({ items: [{ type: "call", callId: "c1" }] });
  const parts = [{ type: "image", mediaType: "image/png", blob: "b1", bytes: 70 }] as const;
  const told = { status: "ok", text: "seen", parts, forPerson: "for you" } as const;
  log.add({ type: "tool_result", turn: "tn_1", response: "rsp_1", callId: "c1", ...told });
  expect(blocksOf(log.events, { writerAlive: false }).find(({ kind }) => kind === "tool")).toMatchObject({
    result: { status: "ok", text: "seen", images: parts, forPerson: "for you" },
  });
});
