import { describe, expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import { activePath } from "./active-path.ts";
import { planOf } from "./fold.ts";

const seqs = (log: LogBuilder): readonly number[] => activePath(log.events).map(({ seq }) => seq);

const texts = (log: LogBuilder): readonly string[] =>
  (planOf(log.events)?.entries ?? []).map((entry) => {
    if (entry.kind === "user") {
      const [part] = entry.event.content;
      return part?.type === "text" ? part.text : "";
    }
    return entry.kind === "group" ? entry.group.start.response : "summary";
  });

/** 0 settings, 1 user a, 2–4 answer, 5 user b, 6–8 answer. */
const two = (): LogBuilder =>
  new LogBuilder()
    .settings()
    .user("a")
    .respond({ items: [{ type: "message", text: "A" }] })
    .user("b")
    .respond({ items: [{ type: "message", text: "B" }] });

describe("the active path", () => {
  test("of a log without branches is the whole log", () => {
    expect(seqs(two())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(activePath([])).toEqual([]);
  });

  test("goes back with a branch and continues from there; the branch itself is on it", () => {
    const log = two().branch(4).user("c");
    expect(seqs(log)).toEqual([0, 1, 2, 3, 4, 9, 10]);
    expect(texts(log)).toEqual(["a", "rsp_1", "c"]);
  });

  test("branches from a branch", () => {
    const log = two().branch(4).user("c").branch(1).user("d");
    expect(seqs(log)).toEqual([0, 1, 11, 12]);
    expect(texts(log)).toEqual(["a", "d"]);
  });

  test("can return to an abandoned branch: the path is what it was when that event was written", () => {
    const log = two().branch(4).user("c").branch(8).user("e");
    expect(seqs(log)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12]);
    expect(texts(log)).toEqual(["a", "rsp_1", "b", "rsp_2", "e"]);
    log.branch(10).user("f"); // and the other one, including its own branch event
    expect(seqs(log)).toEqual([0, 1, 2, 3, 4, 9, 10, 13, 14]);
    expect(texts(log)).toEqual(["a", "rsp_1", "c", "f"]);
  });

  test("keeps the first event, which names the session, however far back a branch goes", () => {
    const log = two().branch(-1).user("again");
    expect(seqs(log)).toEqual([0, 9, 10]);
    expect(texts(log)).toEqual(["again"]);
  });

  test("has no settings of an abandoned branch, but keeps what an origin refused", () => {
    const log = two().settings({ system: "of b" }).override({ kind: "all" }, "omit_reasoning").branch(4);
    const plan = planOf(log.events);
    expect([plan?.settings.system, plan?.overrides.map(({ action }) => action)]).toEqual([
      undefined,
      ["omit_reasoning"],
    ]);
  });

  test("does not gain a result for a call on an abandoned branch", () => {
    const log = new LogBuilder()
      .settings()
      .user("a")
      .respond({ items: [{ type: "call", callId: "call_x" }] })
      .start("call_x")
      .branch(1)
      .user("b")
      .result("call_x", "late", "ok", "rsp_1");
    expect(texts(log)).toEqual(["a", "b"]);
  });
});
