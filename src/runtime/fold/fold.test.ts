import { describe, expect, test } from "vitest";

import { HOME, LogBuilder, settingsWith } from "../../../test/contracts/log-builder.ts";
import type { LoggedEvent, Reason, ResponseStatus, Settings } from "../../base/events/index.ts";
import { openai } from "../models/index.ts";
import { explain, LeftOutRanges } from "./explain.ts";
import { Fold, planOf } from "./fold.ts";
import { CUT_OFF, NEVER_STARTED, resultOfOpenCall, OUTCOME_UNKNOWN } from "./open-ends.ts";
import type { PlanEntry, PlannedGroup } from "./plan.ts";

const groupsOf = (entries: readonly PlanEntry[] = []): readonly PlannedGroup[] =>
  entries.filter((entry) => entry.kind === "group");

const groupAt = (log: LogBuilder, index = 0): PlannedGroup | undefined =>
  groupsOf(planOf(log.events)?.entries)[index];

const start = (): LogBuilder => new LogBuilder().settings().user("hi");

describe("groups", () => {
  test("have their items ordered by output index, despite gaps and interleaving, and a slot counts once", () => {
    const log = start().respond({
      items: [
        { type: "message", text: "last", outputIndex: 7 },
        { type: "reasoning", outputIndex: 0 },
        { type: "message", text: "again", outputIndex: 7 },
        { type: "call", callId: "call_1", outputIndex: 3 },
      ],
    });
    expect(groupAt(log)?.items.map(({ event }) => [event.type, event.outputIndex])).toEqual([
      ["reasoning", 0],
      ["tool_call", 3],
      ["assistant_message", 7],
    ]);
    expect(groupAt(log)?.items.at(-1)?.event).toMatchObject({ text: "last" });
  });

  test("have their results in call order, however the tools finished, and the first one counts", () => {
    const log = start()
      .respond({
        items: [
          { type: "call", callId: "call_a" },
          { type: "call", callId: "call_b" },
        ],
      })
      .result("call_b", "b")
      .result("call_a", "a")
      .result("call_b", "b again");
    expect(groupAt(log)?.results).toEqual([
      { callId: "call_a", text: "a", failed: false, seq: 7 },
      { callId: "call_b", text: "b", failed: false, seq: 6 },
    ]);
  });

  test("keep the first end of a response", () => {
    const log = start().respond({ items: [{ type: "message", text: "A" }] });
    log.add({ type: "response_end", turn: log.turn, response: "rsp_1", status: "failed", durationMs: 0 });
    expect(groupAt(log)?.items[0]?.reason).toBe("same_origin");
  });

  test("ignore items, results and ends of a response that never started", () => {
    const log = start().item({ type: "message", text: "stray" }, 0).result("call_x");
    expect(planOf(log.events)?.entries).toHaveLength(1);
  });

  test("ignore an unknown event", () => {
    const log = start().respond({ items: [{ type: "message", text: "A" }] });
    const before = planOf(log.events)?.entries;
    log.events.push({
      ...(log.events[0] as LoggedEvent),
      seq: log.events.length,
      type: "unknown",
    } as LoggedEvent);
    expect(planOf(log.events)?.entries).toEqual(before);
  });
});

describe("open ends: a call without a result gets a constant one", () => {
  test("for never started, started, and cut off", () => {
    const open = start().respond({
      items: [
        { type: "call", callId: "call_a" },
        { type: "call", callId: "call_b" },
      ],
    });
    open.start("call_b");
    expect(groupAt(open)?.results.map(({ text, seq }) => [text, seq])).toEqual([
      [NEVER_STARTED.text, undefined],
      [OUTCOME_UNKNOWN.text, undefined],
    ]);
    const cut = start().respond({ items: [{ type: "call", callId: "call_a" }], status: "incomplete" });
    expect(groupAt(cut)?.results.map(({ text }) => text)).toEqual([CUT_OFF.text]);
  });

  test("and recording the same text does not change the request", () => {
    const log = start().respond({ items: [{ type: "call", callId: "call_a" }] });
    const before = groupAt(log)?.results.map(({ callId, text }) => [callId, text]);
    const group = groupAt(log)?.group;
    const call = group?.items[0];
    if (group === undefined || call?.type !== "tool_call") throw new Error("no call");
    const { status, text } = resultOfOpenCall(group, call);
    log.result("call_a", text, status);
    expect(groupAt(log)?.results.map((one) => [one.callId, one.text])).toEqual(before);
    expect(status).toBe("not_executed");
  });
});

const repeated = (): LogBuilder =>
  start()
    .respond({ items: [{ type: "call", callId: "call_1" }] })
    .result("call_1")
    .user("again")
    .respond({
      items: [
        { type: "call", callId: "call_1" },
        { type: "custom", callId: "" },
      ],
    })
    .result("call_1");

describe("call ids", () => {
  test("that repeat stay unchanged at home; one that no request accepts is mapped there too", () => {
    expect(groupAt(repeated(), 1)?.items.map(({ callId }) => callId)).toEqual(["call_1", "call_ev_9"]);
  });

  test("are mapped abroad if they repeat, are empty or are too long, alike for call and result", () => {
    const settings = settingsWith({ target: { ...HOME, model: "other" } });
    const [, second] = groupsOf(planOf(repeated().events, settings)?.entries);
    const ids = second?.items.map(({ callId }) => callId);
    expect(ids).toEqual(["call_ev_8", "call_ev_9"]);
    expect(second?.results.map(({ callId }) => callId)).toEqual(ids);
    const long = start().respond({ items: [{ type: "call", callId: "c".repeat(65) }] });
    expect(groupsOf(planOf(long.events, settings)?.entries)[0]?.items[0]?.callId).toBe("call_ev_3");
  });

  test("are mapped at home if the profile says that they repeat", () => {
    const settings = settingsWith({}, { callIdsRepeat: true });
    const [first, second] = groupsOf(planOf(repeated().events, settings)?.entries);
    expect([first?.items[0]?.callId, second?.items[0]?.callId]).toEqual(["call_1", "call_ev_8"]);
  });
});

const compacted = (summary: string): LogBuilder => {
  const built = new LogBuilder().settings({ system: "early" });
  built.user("a").respond({ items: [{ type: "message", text: "A" }] });
  built.override({ kind: "field", field: "include" }, "strip_field");
  built.user("b").respond({ items: [{ type: "message", text: "B" }] });
  return built.add({ type: "compaction", before: 6, summary });
};

describe("a compaction cut", () => {
  test("replaces everything before it by the summary; settings and overrides stay in force", () => {
    const plan = planOf(compacted("what was said").events);
    expect(plan?.entries.map(({ kind }) => kind)).toEqual(["summary", "user", "group"]);
    expect([plan?.settings.system, plan?.strip.length]).toEqual(["early", 1]);
  });

  test("with an empty summary replaces it by nothing", () => {
    expect(planOf(compacted("").events)?.entries.map(({ kind }) => kind)).toEqual(["user", "group"]);
  });

  test("is superseded by the last one, and leaving its branch undoes it", () => {
    const twice = compacted("first").add({ type: "compaction", before: 100, summary: "second" });
    const entries = planOf(twice.events)?.entries;
    expect(entries).toMatchObject([{ kind: "summary", event: { summary: "second" } }]);
    expect(planOf(twice.branch(9).events)?.entries).toHaveLength(4);
  });

  test("is named by explain for what was compacted", () => {
    const built = compacted("sum");
    const decisions = explain(built.events, planOf(built.events)?.entries ?? []);
    expect(decisions.map(({ seq, action, reason }) => [seq, action, reason])).toEqual([
      [1, "omit", "compacted"],
      [3, "omit", "compacted"],
      [6, "replay", "user_input"],
      [8, "replay", "same_origin"],
      [10, "translate", "compacted"],
    ]);
  });
});

describe("explain", () => {
  test("has one decision for every event that could be in a request, in order, each with a readable reason", () => {
    const log = start()
      .respond({ items: [{ type: "reasoning" }, { type: "call", callId: "call_1" }] })
      .result("call_1")
      .result("call_1", "again");
    log.add({
      type: "partial",
      turn: log.turn,
      response: "rsp_1",
      outputIndex: 5,
      kind: "text",
      parts: ["x"],
    });
    log.respond({ items: [{ type: "message", text: "A" }], status: "failed" }).result("call_x");
    log.user("left").branch(11).user("runtime", "runtime");
    const decisions = explain(log.events, planOf(log.events)?.entries ?? []);
    expect(decisions.map(({ seq, type, action, reason }) => `${seq} ${type}: ${action} ${reason}`)).toEqual([
      "1 user_message: replay user_input",
      "3 reasoning: replay same_origin",
      "4 tool_call: replay same_origin",
      "6 tool_result: replay call_result",
      "7 tool_result: omit superseded",
      "8 partial: omit for_people",
      "10 assistant_message: omit response_failed",
      "12 tool_result: omit left_branch",
      "13 user_message: omit left_branch",
      "15 user_message: replay user_input",
    ]);
    expect(decisions.every(({ why }) => why.length > 3)).toBe(true);
  });

  test("lists what a request omitted as ranges by reason", () => {
    const log = start()
      .respond({ items: [{ type: "reasoning" }, { type: "message", text: "x" }], status: "cut" })
      .respond({ items: [{ type: "reasoning" }, { type: "message", text: "x" }], status: "failed", step: 2 })
      .respond({ items: [{ type: "message", text: "x" }], status: "cut", step: 3 })
      .respond({ items: [{ type: "message", text: "fine" }], step: 4 });
    const leftOut = new LeftOutRanges();
    for (const entry of planOf(log.events)?.entries ?? []) leftOut.add(entry);
    expect(leftOut.list()).toEqual([
      {
        reason: "response_cut",
        seqs: [
          [3, 4],
          [11, 11],
        ],
      },
      { reason: "response_failed", seqs: [[7, 8]] },
    ]);
  });
});

/** A log with everything that may change an earlier decision. */
const eventful = (): LogBuilder => {
  const log = start();
  log.respond({ items: [{ type: "reasoning" }], status: "cut", step: 1 });
  log.respond({ items: [{ type: "reasoning" }, { type: "call", callId: "call_1" }], step: 1, attempt: 2 });
  log.start("call_1").result("call_1");
  log.respond({ items: [{ type: "reasoning" }, { type: "message", text: "A" }], status: "incomplete" });
  log.respond({ items: [{ type: "reasoning" }, { type: "message", text: "A" }], step: 2, attempt: 2 });
  log.user("b").respond({
    items: [
      { type: "call", callId: "call_2" },
      { type: "call", callId: "call_3" },
    ],
  });
  log.start("call_3").result("call_3").user("nudge", "runtime").result("call_2", "late", "ok", "rsp_5");
  log.override({ kind: "group", response: "rsp_2" }, "omit_reasoning");
  log.settings({ replay: { maxItems: 1 } });
  log.respond({ items: [{ type: "reasoning" }, { type: "message", text: "B" }] });
  log
    .settings()
    .branch(20)
    .user("c")
    .respond({ items: [{ type: "message", text: "C" }] });
  log.add({ type: "compaction", before: 12, summary: "s" });
  return log.user("d").respond({ items: [{ type: "message", text: "D" }], status: "open" });
};

describe("the incremental plan", () => {
  test("equals the one made from scratch at every event, reasons included", () => {
    const log = eventful();
    const fold = new Fold();
    for (const [index, event] of log.events.entries()) {
      fold.add([event]);
      const fresh = planOf(log.events.slice(0, index + 1));
      const plan = fold.plan();
      expect(plan?.entries).toEqual(fresh?.entries);
      expect([plan?.strip, plan?.overrides]).toEqual([fresh?.strip, fresh?.overrides]);
    }
  });

  test("keeps the planned entries of settled groups, so a step costs only what is new", () => {
    const log = start().respond({ items: [{ type: "message", text: "A" }] });
    const fold = new Fold();
    fold.add(log.events);
    const before = fold.plan();
    log.user("b").respond({ items: [{ type: "call", callId: "call_1" }] });
    fold.add(log.events.slice(4));
    const after = fold.plan();
    expect(after?.revision).toBe(before?.revision);
    expect(after?.entries.slice(0, 2).every((entry, index) => entry === before?.entries[index])).toBe(true);
  });

  test("starts a new revision when an earlier decision may change", () => {
    const log = start().respond({ items: [{ type: "message", text: "A" }] });
    const fold = new Fold();
    fold.add(log.events);
    const first = fold.plan()?.revision;
    log.override({ kind: "all" }, "omit_reasoning");
    fold.add(log.events.slice(-1));
    expect(fold.plan()?.revision).not.toBe(first);
  });

  test("does not exist without settings", () => {
    expect(planOf(new LogBuilder().user("a").events)).toBeUndefined();
  });
});

const answer = { type: "message", text: "A" } as const;
const thought = { type: "reasoning" } as const;
const answered = (...items: Parameters<LogBuilder["item"]>[0][]): LogBuilder => start().respond({ items });
const ended = (status: ResponseStatus | "open"): LogBuilder => start().respond({ items: [answer], status });

/** A log for each reason. The compiler keeps it complete: a new reason without a log does not build. */
const REACHED: Readonly<Record<Reason, readonly [log: LogBuilder, settings?: Settings]>> = {
  user_input: [start()],
  same_origin: [answered(answer)],
  foreign_origin: [answered(answer), settingsWith({ target: { ...HOME, model: "other" } })],
  response_incomplete: [ended("incomplete")],
  response_failed: [ended("failed")],
  response_cancelled: [ended("cancelled")],
  response_cut: [ended("cut")],
  response_open: [ended("open")],
  superseded: [answered(answer).respond({ items: [answer], step: 1, attempt: 2 })],
  no_follower: [answered(answer, thought)],
  no_payload: [answered({ ...thought, payload: null }, answer)],
  id_invalid: [answered(thought, { ...answer, id: "no good" })],
  id_repeated: [answered(thought, { ...answer, id: "msg_1" }, { ...answer, id: "msg_1" })],
  item_not_replayable: [answered({ type: "hosted", itemType: "image_generation_call" }, answer)],
  unknown_type: [answered({ type: "other" }, answer)],
  empty: [answered({ type: "message", text: "" }, answer)],
  replay_policy: [answered(thought, answer), settingsWith({ replay: "none" })],
  override: [answered(thought, answer).override({ kind: "all" }, "omit_reasoning")],
  not_a_reasoning_model: [
    answered(thought, answer),
    settingsWith({ capabilities: { reasoning: false, sampling: true, vision: true } }),
  ],
  prefix_changed: [answered(thought, answer), settingsWith({}, { prefixBound: true })],
  call_result: [answered({ type: "call", callId: "call_1" }).result("call_1")],
  compacted: [start().add({ type: "compaction", before: 2, summary: "s" })],
  left_branch: [start().branch(0)],
  for_people: [
    start().add({ type: "partial", response: "rsp_1", outputIndex: 0, kind: "text", parts: ["x"] }),
  ],
};

test.each(Object.entries(REACHED))("the reason %s is given", (reason, [log, settings]) => {
  const plan = planOf(log.events, settings);
  if (plan === undefined) throw new Error("no plan");
  // Only the renderer knows the prefix, so its result is explained.
  const { entries } = openai("gpt-test", { apiKey: "k" })
    .createRenderer()
    .render(plan, { cacheKey: "s", blob: () => undefined });
  const given = explain(log.events, entries).filter((one) => one.reason === reason);
  expect(given).not.toEqual([]);
  expect(given.every(({ why }) => why !== "")).toBe(true);
});

const turns = (log: LogBuilder, count: number): LogBuilder =>
  Array.from({ length: count }).reduce<LogBuilder>(
    (all, _one, index) => all.user("more").respond({ items: [{ type: "message", text: `answer ${index}` }] }),
    log,
  );
const parts = ({ events }: LogBuilder, count: number): readonly number[] => {
  const fold = new Fold();
  fold.add(events);
  const planned: number[] = [];
  for (let plan = fold.planAhead(count); plan !== undefined; plan = fold.planAhead(count))
    planned.push(plan.entries.length);
  return planned;
};

describe("a long log is planned ahead", () => {
  test("in parts, up to the last", () => {
    expect(parts(turns(start(), 3), 2)).toEqual([2, 4, 6]);
    expect(parts(turns(start(), 3), 100)).toEqual([]);
  });

  test("as far as no later event can change it, and not at all if every message can", () => {
    const open = start().respond({ items: [{ type: "call", callId: "call_1" }] });
    expect(parts(turns(open, 4), 2)).toEqual([]);
    expect(parts(turns(turns(start(), 2).respond({ items: [{ type: "call", callId: "c" }] }), 4), 2)).toEqual(
      [2, 4],
    );
    expect(parts(turns(new LogBuilder().settings({ replay: "since_last_user" }).user("hi"), 4), 2)).toEqual(
      [],
    );
  });
});
