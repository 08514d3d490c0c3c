import { describe, expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import { type EventDraft, NO_USAGE } from "../../base/events/index.ts";
import { Fold, NEVER_STARTED, OUTCOME_UNKNOWN, planOf } from "../fold/index.ts";
import { closeTurn, findOpenTurn, openCalls, type OpenTurn } from "./recover.ts";

function openTurnOf(log: LogBuilder): OpenTurn | undefined {
  const fold = new Fold();
  fold.add(log.events);
  return findOpenTurn(log.events, fold);
}

const recovered = (log: LogBuilder, scratch: readonly string[] = []): readonly EventDraft[] => {
  const open = openTurnOf(log);
  return open === undefined ? [] : closeTurn(open, scratch);
};

const start = (): LogBuilder => new LogBuilder().settings().user("hi");

describe("the open turn", () => {
  test("is the last one, if it has no end", () => {
    expect(openTurnOf(new LogBuilder().settings())).toBeUndefined();
    expect(openTurnOf(start())).toMatchObject({ turn: "tn_1", steps: 0 });
    expect(openTurnOf(start().respond())).toMatchObject({ turn: "tn_1", steps: 1 });
    expect(openTurnOf(start().respond().endTurn())).toBeUndefined();
  });

  test("is never one on an abandoned branch", () => {
    expect(openTurnOf(start().respond({ status: "open" }).branch(0))).toBeUndefined();
  });

  test("is not reopened by a notice after its end", () => {
    const log = start().respond().endTurn();
    log.add({ type: "notice", turn: "tn_1", code: "late_result", message: "late" });
    expect(openTurnOf(log)).toBeUndefined();
  });
});

const unbegun = {
  type: "turn_end",
  turn: "tn_never",
  status: "cancelled",
  steps: 0,
  usage: NO_USAGE,
  durationMs: 0,
} as const;

describe("the end of a turn that was cancelled before it began", () => {
  test("hides nothing that a crash left open, and opens nothing that has ended", () => {
    const open = start()
      .respond({ items: [{ type: "call", callId: "c1" }] })
      .add(unbegun);
    expect(openTurnOf(open)).toMatchObject({ turn: "tn_1", steps: 1 });
    expect(openTurnOf(start().respond().endTurn().add(unbegun))).toBeUndefined();
    expect(openTurnOf(new LogBuilder().settings().add(unbegun))).toBeUndefined();
  });

  test("does not reopen the turn before a retry that ended at once", () => {
    const log = start().respond({ status: "failed" }).endTurn();
    log
      .add({ type: "branch", turn: "tn_2", to: 1, why: "retry" })
      .add({ ...unbegun, turn: "tn_2", status: "failed" });
    expect(openTurnOf(log)).toBeUndefined();
    expect(openTurnOf(log.add(unbegun))).toBeUndefined();
  });

  test("does not change the next request", () => {
    const log = start()
      .respond({ items: [{ type: "message", text: "Hi." }] })
      .endTurn()
      .user("and?");
    const before = planOf(log.events)?.entries;
    expect(planOf(log.add(unbegun).events)?.entries).toEqual(before);
  });
});

describe("closing an open turn", () => {
  test("records what was seen, that the response was cut, and that the turn was interrupted", () => {
    const log = start().respond({ items: [{ type: "reasoning" }], status: "open" });
    const scratch = [
      ["rsp_1", 0, "reasoning", "summary0", "finished, so not partial"],
      ["rsp_1", 1, "text", "text0", "Hel"],
    ].map((row) => JSON.stringify(row));
    expect(recovered(log, scratch)).toEqual([
      { type: "partial", turn: "tn_1", response: "rsp_1", outputIndex: 1, kind: "text", parts: ["Hel"] },
      {
        type: "response_end",
        turn: "tn_1",
        response: "rsp_1",
        status: "cut",
        durationMs: 0,
        error: { code: "interrupted", message: "the process ended while the response was under way" },
      },
      {
        type: "turn_end",
        turn: "tn_1",
        status: "interrupted",
        steps: 1,
        usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
        durationMs: 0,
      },
    ]);
  });

  test("gives every call the result that the fold rendered for it", () => {
    const log = start().respond({
      items: [
        { type: "call", callId: "call_a" },
        { type: "call", callId: "call_b" },
        { type: "call", callId: "call_c" },
      ],
    });
    log.start("call_b").start("call_c").result("call_c");
    expect(openCalls(openTurnOf(log) as OpenTurn).map(({ call }) => call.callId)).toEqual([
      "call_a",
      "call_b",
    ]);
    const before = planOf(log.events)?.entries.flatMap((entry) =>
      entry.kind === "group" ? entry.results : [],
    );
    const drafts = recovered(log);
    expect(drafts.filter((draft) => draft.type === "tool_result")).toEqual([
      { type: "tool_result", turn: "tn_1", response: "rsp_1", callId: "call_a", ...NEVER_STARTED },
      { type: "tool_result", turn: "tn_1", response: "rsp_1", callId: "call_b", ...OUTCOME_UNKNOWN },
    ]);
    for (const draft of drafts) log.add(draft);
    const after = planOf(log.events)?.entries.flatMap((entry) =>
      entry.kind === "group" ? entry.results : [],
    );
    expect(after?.map(({ callId, text }) => [callId, text])).toEqual(
      before?.map(({ callId, text }) => [callId, text]),
    );
  });

  test("works at every prefix of a log, and then nothing is open", () => {
    const log = start();
    log.respond({
      items: [{ type: "reasoning" }, { type: "call", callId: "call_a" }],
      status: "cut",
      step: 1,
    });
    log.respond({ items: [{ type: "reasoning" }, { type: "call", callId: "call_b" }], step: 1, attempt: 2 });
    log
      .start("call_b")
      .result("call_b")
      .respond({ items: [{ type: "message", text: "A" }] })
      .endTurn();
    log.user("more").respond({ items: [{ type: "call", callId: "call_c" }] });
    for (let length = 1; length <= log.events.length; length += 1) {
      const cut = new LogBuilder();
      cut.events.push(...log.events.slice(0, length));
      const before = planOf(cut.events)?.entries;
      for (const draft of recovered(cut)) cut.add(draft);
      expect(openTurnOf(cut)).toBeUndefined();
      const sent = (entries: typeof before): unknown =>
        entries?.map((entry) =>
          entry.kind === "group"
            ? [
                entry.items
                  .filter(({ action }) => action !== "omit")
                  .map(({ event, action }) => [event.id, action]),
                entry.results.map(({ callId, text }) => [callId, text]),
              ]
            : entry.event.id,
        );
      expect(sent(planOf(cut.events)?.entries)).toEqual(sent(before));
    }
  });
});
