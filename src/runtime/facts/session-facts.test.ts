import { describe, expect, test } from "vitest";

import { HOME, LogBuilder, settingsWith } from "../../../test/contracts/log-builder.ts";
import type { LoggedEvent, Usage } from "../../base/events/index.ts";
import { Fold } from "../fold/index.ts";
import { factsOf, leftBehind, SessionFacts } from "./index.ts";

const usage: Usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 6, reasoningTokens: 2 };
const start = { type: "session_start", session: "s", root: "s", writer: "test" } as const;

const costOf = ({ model }: { readonly model: string }): number | undefined =>
  model === HOME.model ? 0.1 : undefined;

test("title, folder, settings, model and usage come from the last event that has them", () => {
  const log = new LogBuilder()
    .add({ ...start, cwd: "/project" })
    .settings({ effort: "low" })
    .add({ type: "title", title: "first" })
    .user("hello")
    .respond({ usage })
    .settings({ effort: "high" })
    .respond({ usage, origin: { ...HOME, model: "gpt-other" } })
    .add({ type: "title", title: "second" });
  const { title, cwd, settings, model, usage: used, lastSeq } = factsOf(log.events);
  expect({ title, cwd, effort: settings?.effort, model, used, lastSeq }).toEqual({
    title: "second",
    cwd: "/project",
    effort: "high",
    model: "openai/gpt-other",
    used: { inputTokens: 20, cachedTokens: 8, outputTokens: 12, reasoningTokens: 4 },
    lastSeq: log.lastSeq,
  });
});

describe("the cost", () => {
  test("is summed without floating-point noise", () => {
    const log = new LogBuilder().user("hello").respond({ usage }).respond({ usage }).respond({ usage });
    expect(factsOf(log.events, costOf).costUsd).toBe(0.3);
  });

  test("is unknown, not smaller, as soon as one price is not known; a response without usage costs nothing", () => {
    const log = new LogBuilder().user("hello").respond({ usage }).respond({});
    expect(factsOf(log.events, costOf).costUsd).toBe(0.1);
    log.respond({ usage, origin: { ...HOME, model: "unpriced" } });
    const facts = factsOf(log.events, costOf);
    expect(facts.costUsd).toBeUndefined();
    expect(facts.requests.map(({ costUsd }) => costUsd)).toEqual([0.1, 0, undefined]);
  });
});

describe("the schema of a turn's answer", () => {
  const output = { name: "output", schema: { type: "object" }, strict: false };

  test("is that of its last request or, before the first, the one it was opened with", () => {
    const log = new LogBuilder().add({
      type: "settings",
      turn: "tn_1",
      settings: settingsWith({ output }),
    });
    expect(factsOf(log.events).turns.size).toBe(0); // settings alone do not begin a turn
    log.user("one");
    expect(factsOf(log.events).turns.get("tn_1")).toMatchObject({ output, firstSeq: 0 });
    log.settings({}).respond({});
    expect(factsOf(log.events).turns.get("tn_1")?.output).toBeUndefined();
  });

  test("follows the path: that of an abandoned branch does not count", () => {
    const log = new LogBuilder().settings({}).user("one").respond({}).endTurn();
    const back = log.lastSeq;
    log.settings({ output }).user("two").respond({}).endTurn();
    expect([...factsOf(log.events).turns.values()].at(-1)?.output).toEqual(output);
    log.add({ type: "branch", to: back, why: "undo" }).user("three").respond({}).endTurn();
    expect([...factsOf(log.events).turns.values()].at(-1)?.output).toBeUndefined();
  });

  test("comes from the settings that the first fold finds in force at each event", () => {
    const log = new LogBuilder().settings({}).user("one").respond({}).endTurn();
    const back = log.lastSeq;
    log.settings({ output }).user("two").respond({}).endTurn();
    log.add({ type: "branch", to: back, why: "undo" }).user("three").settings({ output }).respond({});
    log.add({ type: "branch", to: back, why: "checkout" });
    const facts = factsOf(log.events);
    for (const { seq } of log.events) {
      const fold = new Fold();
      fold.add(log.events.slice(0, seq + 1));
      expect(facts.settingsAt(seq)).toEqual(fold.settings);
    }
  });
});

describe("a turn", () => {
  test("is open from its message to its end, and its answer is the last text of a response that did not fail", () => {
    const log = new LogBuilder().user("what is it?");
    expect(factsOf(log.events).openTurn).toBe("tn_1");
    log
      .respond({ items: [{ type: "message", text: "half of" }], status: "failed" })
      .respond({
        items: [
          { type: "message", text: "it is" },
          { type: "message", text: "this" },
        ],
      })
      .respond({ items: [{ type: "message", text: "broken" }], status: "cut" })
      .endTurn();
    const facts = factsOf(log.events);
    expect(facts.openTurn).toBeUndefined();
    expect(facts.turnsEnded).toBe(1);
    expect(facts.turns.get("tn_1")?.text).toBe("it is\n\nthis");
    expect(facts.lastMessage).toEqual({ seq: 0, text: "what is it?" });
  });

  test("has the refusal as its text if a message has none, by output index, with the first of each slot", () => {
    const log = new LogBuilder().user("do it").respond({
      items: [
        { type: "message", text: "second", outputIndex: 1 },
        { type: "message", text: "", refusal: "no", outputIndex: 0 },
        { type: "message", text: "again", outputIndex: 1 },
      ],
    });
    expect(factsOf(log.events).turns.get("tn_1")?.text).toBe("no\n\nsecond");
  });
});

test("a request has its tools with their first result, and what it omitted, even by reference", () => {
  const log = new LogBuilder().user("look");
  log
    .respond({ items: [{ type: "call", callId: "c1" }] })
    .result("c1", "one")
    .result("c1", "two");
  const leftOut = [{ reason: "override", seqs: [[1, 2]] as const }];
  const request = { turn: log.turn, step: 2, attempt: 1, origin: HOME, bodyHash: "", prefixHash: "" };
  log.add({ ...request, type: "response_start", response: "r2", leftOut });
  log.add({ ...request, type: "response_start", response: "r3", leftOutAs: log.lastSeq });
  const [first, second, third] = factsOf(log.events).requests;
  expect(first?.tools.map(({ call, result }) => [call.callId, result?.text])).toEqual([["c1", "one"]]);
  expect([second?.leftOut, third?.leftOut]).toEqual([leftOut, leftOut]);
});

test("a call has what it ran with if its arguments were repaired, and a request why another model was asked", () => {
  const log = new LogBuilder()
    .settings()
    .user("look")
    .respond({ items: [{ type: "call", callId: "c1" }] });
  const started = { type: "tool_start", turn: log.turn, response: log.response, callId: "c1" } as const;
  log.add({ ...started, tool: "look", idempotencyKey: "k", arguments: '{"n":1}' }).result("c1");
  const other = { ...HOME, model: "gpt-other" };
  log.add({ type: "notice", turn: log.turn, code: "model_fallback", message: "down" });
  log.add({ type: "settings", turn: log.turn, settings: settingsWith({ target: other }) });
  log.respond({ origin: other });
  const facts = factsOf(log.events);
  expect(facts.requests.map(({ tools }) => tools.map(({ repaired }) => repaired))).toEqual([['{"n":1}'], []]);
  expect(facts.requests.map(({ fallback }) => fallback?.message)).toEqual([undefined, "down"]);
  expect(facts.settings?.target).toEqual(HOME);
  expect(facts.turns.get(log.turn)?.fellBackTo).toEqual(other);
});

test("a question is open until it is answered, its call has a result, or the turn ends", () => {
  const log = new LogBuilder().user("run").respond({ items: [{ type: "call", callId: "c1" }] });
  const ask = (requestId: string, callId: string): LogBuilder =>
    log.add({
      type: "permission_request",
      turn: log.turn,
      response: log.response,
      requestId,
      callId,
      tool: "look",
      access: "execute",
      arguments: "{}",
      argumentsHash: "",
    });
  ask("q1", "c1");
  expect(factsOf(log.events).question?.requestId).toBe("q1");
  log.result("c1");
  expect(factsOf(log.events).question).toBeUndefined();
  ask("q2", "c2").endTurn();
  expect(factsOf(log.events).question).toBeUndefined();
});

test("a question that is asked again replaces the one a crash left open, and a result of another response answers neither", () => {
  const log = new LogBuilder().user("run").respond({ items: [{ type: "call", callId: "c1" }] });
  const ask = (requestId: string, response = log.response): LogBuilder =>
    log.add({
      type: "permission_request",
      turn: log.turn,
      response,
      requestId,
      callId: "c1",
      tool: "look",
      access: "execute",
      arguments: "{}",
      argumentsHash: "",
    });
  ask("old");
  ask("new");
  ask("other", "another response");
  expect(factsOf(log.events).question?.requestId).toBe("new");
  log.result("c1");
  expect(factsOf(log.events).question?.requestId).toBe("other");
});

test("the questions of a tool are open until their answer, their call's end or new start, or the turn's end", () => {
  const log = new LogBuilder().user("run").respond({
    items: [
      { type: "call", callId: "c1" },
      { type: "call", callId: "c2" },
    ],
  });
  const base = (callId: string, requestId: string) =>
    ({ turn: log.turn, response: log.response, callId, requestId }) as const;
  const ask = (callId: string, requestId: string): void =>
    void log.add({
      type: "elicitation_request",
      ...base(callId, requestId),
      server: "s",
      message: "m",
      mode: "url",
      url: "https://a.example/",
    });
  const open = (): readonly string[] => factsOf(log.events).elicitations.map(({ requestId }) => requestId);
  ask("c1", "a");
  ask("c1", "b");
  ask("c2", "c");
  expect(open()).toEqual(["a", "b", "c"]);
  log.add({ type: "elicitation_answer", ...base("c1", "a"), action: "decline", by: "person" });
  expect(open()).toEqual(["b", "c"]);
  log.result("c2");
  expect(open()).toEqual(["b"]);
  const { turn, response } = base("c1", "");
  log.add({ type: "tool_start", turn, response, callId: "c1", tool: "look", idempotencyKey: "k" });
  expect(open()).toEqual([]);
  ask("c1", "d");
  log.add({
    type: "permission_request",
    ...base("c1", "q"),
    tool: "look",
    access: "execute",
    arguments: "{}",
    argumentsHash: "",
  });
  expect(open()).toEqual([]);
  ask("c1", "e");
  log.endTurn();
  expect(open()).toEqual([]);
});

test("adding events one by one equals adding all at once, and a repeated event counts once", () => {
  const log = new LogBuilder().user("a").respond({ usage }).endTurn().user("b").respond({ usage });
  const facts = new SessionFacts(() => 1);
  for (const event of log.events) facts.add([event, event]);
  facts.add(log.events);
  expect(facts).toEqual(factsOf(log.events, () => 1));
});

test("what a branch abandoned is left behind, the branch itself is not", () => {
  const log = new LogBuilder().user("a").respond().endTurn().user("b").respond().endTurn();
  const kept = log.events.findIndex(({ type }) => type === "turn_end");
  log.branch(kept).user("c");
  expect([...leftBehind(log.events)]).toEqual([4, 5, 6, 7]);
});

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 15, 10, 0, seconds)).toISOString();

function called(): {
  readonly log: LogBuilder;
  readonly of: { turn: string; response: string; callId: string };
} {
  const log = new LogBuilder().user("go").respond({ items: [{ type: "call", callId: "c1" }] });
  return { log, of: { turn: log.turn, response: log.response, callId: "c1" } };
}

const timed = (log: LogBuilder, times: readonly number[], epochs: readonly number[] = []): LoggedEvent[] =>
  log.events.map((event, index) => ({ ...event, at: at(times[index] ?? 0), epoch: epochs[index] ?? 1 }));

describe("the times of a turn", () => {
  const asked = {
    type: "permission_request",
    tool: "look",
    access: "write",
    arguments: "{}",
    argumentsHash: "h",
  } as const;
  const decided = { type: "permission_decision", decision: "allow", argumentsHash: "h" } as const;
  const ran = { type: "tool_start", tool: "look", idempotencyKey: "k" } as const;

  test("are those of its first and last event; what follows its end does not count", () => {
    const log = new LogBuilder().user("go").respond({}).endTurn();
    log.add({ type: "notice", turn: log.turn, code: "late_result", message: "late" });
    const [turn] = factsOf(timed(log, [1, 2, 3, 4, 99])).turns.values();
    expect([turn?.startedAt, turn?.lastAt, turn?.pauses]).toEqual([at(1), at(4), []]);
  });

  test("leave out the time between the death of a process and the next writer", () => {
    const log = new LogBuilder().user("go").respond({ status: "open" }).respond({}).endTurn();
    const [turn] = factsOf(timed(log, [1, 2, 50, 51, 52], [1, 1, 2, 2, 2])).turns.values();
    expect(turn?.pauses).toEqual([{ from: at(2), to: at(50) }]);
  });

  test("name each wait for a person and the start of the call", () => {
    const { log, of } = called();
    log.add({ ...asked, ...of, requestId: "q" });
    const times = [0, 1, 2, 3, 4, 46, 46, 47];
    const waits = (): unknown => factsOf(timed(log, times)).requests[0]?.tools[0]?.waits;
    expect(waits()).toEqual([{ requestId: "q", from: at(4), to: undefined }]);
    log.add({ ...decided, ...of, requestId: "q", by: "person" }).add({ ...ran, ...of });
    log.add({ type: "tool_result", ...of, status: "ok", text: "done" });
    expect(waits()).toEqual([{ requestId: "q", from: at(4), to: at(46) }]);
    expect(factsOf(timed(log, times)).requests[0]?.tools[0]?.startedAt).toBe(at(46));
  });

  test("know no wait where a function answered or a crash left the question open", () => {
    const { log, of } = called();
    log.add({ ...asked, ...of, requestId: "q" }).add({ ...decided, ...of, requestId: "q", by: "function" });
    log.add({ ...asked, ...of, requestId: "r" }).add({ ...asked, ...of, requestId: "s" });
    log.add({ ...decided, ...of, requestId: "s", by: "person" });
    expect(factsOf(timed(log, [0, 1, 2, 3, 4, 5, 6, 60, 63])).requests[0]?.tools[0]?.waits).toEqual([
      { requestId: "s", from: at(60), to: at(63) },
    ]);
  });
});
