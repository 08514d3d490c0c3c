/** The trace of the inspector: turns, steps and what happened in them, on one clock of worked time. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { type TraceOptions, traceOf } from "../../src/interface/web/inspector/trace-rows.ts";
import {
  lengthOf,
  type Span,
  union,
  without,
  WorkedClock,
} from "../../src/interface/web/inspector/worked-time.ts";
import { factsOf } from "../../src/runtime/facts/index.ts";
import { LogBuilder } from "../contracts/log-builder.ts";

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 15, 10) + seconds * 1000).toISOString();

/** Gives the events their times, in seconds, and a thought its own. */
function timed(log: LogBuilder, times: readonly number[]): readonly LoggedEvent[] {
  return log.events.map((event, index) => {
    const given = { ...event, at: at(times[index] ?? times.at(-1) ?? 0) };
    if (given.type === "reasoning")
      return { ...given, startedAt: at((times[index] ?? 0) - 10), durationMs: 10_000 };
    return given;
  });
}

const OPTIONS: TraceOptions = {
  opened: new Map(),
  most: 300,
  busy: false,
  generating: undefined,
  isLeft: () => false,
};

const shown = (events: readonly LoggedEvent[], options: Partial<TraceOptions> = {}): readonly string[] =>
  traceOf(factsOf(events), { ...OPTIONS, ...options }).rows.map(
    ({ level, label, time }) => `${"  ".repeat(level - 1)}${label} ${time}`,
  );

/** A step that thinks for 10 s and calls a tool, which asks for 42 s and runs for 2 s; a cut attempt; an answer. */
function asked(): readonly LoggedEvent[] {
  const log = new LogBuilder().user("go");
  log.respond({ items: [{ type: "reasoning" }, { type: "call", callId: "c1", name: "look" }] });
  const of = { turn: log.turn, response: log.response, callId: "c1" };
  const hash = { argumentsHash: "h" };
  log.add({
    type: "permission_request",
    ...of,
    ...hash,
    requestId: "q",
    tool: "look",
    access: "write",
    arguments: "{}",
  });
  log.add({ type: "permission_decision", ...of, ...hash, requestId: "q", decision: "allow", by: "person" });
  log.add({ type: "tool_start", ...of, tool: "look", idempotencyKey: "k" });
  log.add({ type: "tool_result", ...of, status: "ok", text: "seen", durationMs: 2000 });
  log.respond({ step: 2, attempt: 1, status: "cut" });
  log.respond({ step: 2, attempt: 2, items: [{ type: "message", text: "Done" }] }).endTurn();
  return timed(log, [0, 0, 10, 11, 12, 12, 54, 54, 56, 57, 58, 59, 62, 63, 63]);
}

describe("the trace", () => {
  test("counts worked time without the wait for a person, which has its own row and figure", () => {
    const { head, times, workedMs, rows } = traceOf(factsOf(asked()), OPTIONS);
    expect([head, times, workedMs]).toEqual(["1 turn, 2 steps", "21.0s worked, 42s waited for you", 21_000]);
    expect(shown(asked())).toEqual([
      "Turn 1 21.0s",
      "  Step 1 · request 1 15.0s",
      "    Thought, no summary 10.0s",
      "    Waited for you 42s",
      "    look 2.0s",
      "  Step 2 · request 3, attempt 2 6.0s",
      "    Attempt 1, cut 5 ms",
      "    Answer 4.0s",
    ]);
    const wait = rows.find(({ sign }) => sign === "wait");
    expect(wait?.bar).toEqual({ kind: "wait", from: 12_000, to: 12_000 });
    expect(rows.find(({ label }) => label === "look")?.bar).toEqual({
      kind: "tool",
      from: 12_000,
      to: 14_000,
    });
  });

  test("shows what a person opened and closed, and makes no rows of what is closed", () => {
    const events = asked();
    const turn = events[0]?.turn ?? "";
    expect(shown(events, { opened: new Map([[turn, false]]) })).toEqual(["Turn 1 21.0s"]);
    expect(shown(events, { opened: new Map([[`${turn}/1`, false]]) })).toHaveLength(5);
  });

  test("draws the newest rows of a session with thousands of steps, below the turn they belong to", () => {
    const log = new LogBuilder();
    for (let turn = 0; turn < 5; turn += 1) {
      log.user("go");
      for (let step = 0; step < 700; step += 1) log.respond({ items: [{ type: "message", text: "x" }] });
      log.endTurn();
    }
    const facts = factsOf(log.events);
    const { rows, cut, head } = traceOf(facts, OPTIONS);
    expect(head).toBe("5 turns, 3,500 steps");
    expect([rows.length <= 302, cut, rows[0]?.label]).toEqual([true, true, "Turn 5"]);
    expect(rows.at(-1)?.label).toBe("Answer");
    const all = traceOf(facts, { ...OPTIONS, most: 5000 });
    expect(all.cut).toBe(false);
    expect(all.rows.filter(({ level }) => level === 1)).toHaveLength(5);
  });

  test("names what is being generated in the last step of a running turn", () => {
    const log = new LogBuilder().user("go").respond({ status: "open" });
    const rows = traceOf(factsOf(timed(log, [0, 1])), {
      ...OPTIONS,
      busy: true,
      generating: { block: "rsp_1/0", kind: "thought" },
    }).rows;
    expect(rows.map(({ label, sign, block }) => [label, sign, block])).toEqual([
      ["Turn 1", undefined, undefined],
      ["Step 1 · request 1", "live", undefined],
      ["Thinks", "live", "rsp_1/0"],
    ]);
  });

  test("does not count the time in which an interrupted turn had no process", () => {
    const log = new LogBuilder().user("go").respond({ status: "open" }).respond({ attempt: 2 }).endTurn();
    const events = timed(log, [0, 5, 3605, 3610, 3611]).map((event, index) => ({
      ...event,
      epoch: index < 2 ? 1 : 2,
    }));
    expect(traceOf(factsOf(events), OPTIONS).workedMs).toBe(11_000);
  });
});

const inside = (spansGiven: readonly Span[], moment: number): boolean =>
  spansGiven.some(({ from, to }) => from <= moment && moment < to);

describe("the clock of worked time", () => {
  const spans = fc.array(
    fc.tuple(fc.nat(100), fc.nat(30)).map(([from, length]): Span => ({ from, to: from + length })),
    { maxLength: 12 },
  );

  test("agrees with counting every moment", () => {
    fc.assert(
      fc.property(spans, spans, fc.nat(160), (waits, busy, until) => {
        const idle = without(union(waits), union(busy));
        const moments = Array.from({ length: 140 }, (_, moment) => moment);
        const counted = moments.filter((moment) => inside(waits, moment) && !inside(busy, moment));
        expect(lengthOf(idle)).toBe(counted.length);
        const clock = new WorkedClock({ from: 0, to: 140 }, idle);
        const worked = moments.filter((moment) => moment < until && !inside(idle, moment)).length;
        expect(clock.at(until)).toBe(worked);
        expect(clock.length).toBe(140 - counted.length);
      }),
    );
  });
});
