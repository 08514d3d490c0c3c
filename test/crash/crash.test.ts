import { describe, expect, test } from "vitest";

import type { Fault } from "../../src/emulator/index.ts";
import type { Session, TurnResult } from "../../src/index.ts";
import { OUTCOME_UNKNOWN, NEVER_STARTED } from "../../src/runtime/fold/index.ts";
import { expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";

const stallAfter = (event: number): Fault => ({
  type: "stall",
  at: { where: "after", unit: "event", index: event },
});

const goOn = async (session: Session, how: "send" | "resume"): Promise<TurnResult> =>
  (how === "send" ? session.send("Are you still there?") : session.resume()).result();

describe.each(["send", "resume"] as const)("kill -9, then %s", (how) => {
  test("in the middle of thinking: what was seen is kept, the rest is requested again", async () => {
    const crash = await startCrash({}, { faults: [stallAfter(14)] });
    await crash.seen("reasoning_delta");
    await crash.kill();
    const session = await crash.reopen();
    await expectKept(crash, session);
    expect(session.interrupted).toBe(true);

    expect(await goOn(session, how)).toMatchObject({ status: "completed" });
    const history = await historyOf(session);
    await expectKept(crash, session);
    const shown = crash.live.flatMap((event) => (event.type === "reasoning_delta" ? [event.delta] : []));
    const [partial, ...others] = ofType(history, "partial");
    expect(others).toEqual([]);
    expect(partial).toMatchObject({ kind: "reasoning", outputIndex: 0 });
    expect(partial?.parts.join("")).toContain("**Checking the weather**");
    expect(partial?.parts.join("").startsWith(shown.join(""))).toBe(true);
    const ends = ofType(history, "response_end");
    expect(ends[0]).toMatchObject({ status: "cut", error: { code: "interrupted" } });
    expectTurns(history, how);
    expect(await session.explain()).toContainEqual(
      expect.objectContaining({ seq: partial?.seq, action: "omit", reason: "for_people" }),
    );
    if (how === "resume") {
      expect(crash.effects()).toHaveLength(1);
      expect(ofType(history, "response_start").map(({ step, attempt }) => [step, attempt])).toEqual([
        [1, 1],
        [1, 2],
        [2, 1],
      ]);
    }
    expectAllAccepted(crash);
  });

  test("in the middle of an answer: the text that was seen is kept for people and not sent", async () => {
    const crash = await startCrash({ prompts: ["Write a long answer."] }, { faults: [stallAfter(90)] });
    await crash.seen("text_delta");
    await crash.kill();
    const session = await crash.reopen();
    await expectKept(crash, session);

    expect(await goOn(session, how)).toMatchObject({ status: "completed" });
    const history = await historyOf(session);
    const shown = crash.live.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    const partial = ofType(history, "partial").find(({ kind }) => kind === "text");
    const seen = partial?.parts.join("") ?? "";
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.startsWith(shown.join(""))).toBe(true);
    // The thought before it was finished and is in the log, but is not sent either, because its response was cut.
    expect(ofType(history, "reasoning").length).toBeGreaterThan(0);
    const request = crash.emulator.exchanges.at(1)?.requestText ?? "";
    expect(JSON.parse(request)).toMatchObject({ input: how === "resume" ? [{ role: "user" }] : [{}, {}] });
    expectTurns(history, how);
    expectAllAccepted(crash);
  });

  test.each(["before", "after"] as const)(
    "in the middle of a tool, %s its effect: it does not run again, and the model learns that its outcome is unknown",
    async (when) => {
      const crash = await startCrash({ block: { when, city: "Paris" } });
      await crash.seen("tool_start");
      await crash.child.line(`blocked-${when}`);
      await crash.kill();
      const done = when === "after" ? 1 : 0;
      expect(crash.effects()).toHaveLength(done);
      const session = await crash.reopen();
      await expectKept(crash, session);

      expect(await goOn(session, how)).toMatchObject({ status: "completed" });
      expect(crash.effects()).toHaveLength(done);
      const history = await historyOf(session);
      expect(ofType(history, "tool_result")).toMatchObject([
        { status: "outcome_unknown", text: OUTCOME_UNKNOWN.text },
      ]);
      expect(ofType(history, "tool_start")).toHaveLength(1);
      expect(crash.emulator.exchanges.at(1)?.requestText).toContain(OUTCOME_UNKNOWN.text);
      expectTurns(history, how);
      expectAllAccepted(crash);
    },
  );

  test("while asking for permission: the tool never ran; send says so, resume asks again", async () => {
    const crash = await startCrash({ permissions: "ask" });
    await crash.seen("permission_request");
    await crash.kill();
    const session = await crash.reopen({ permissions: "ask" });
    await expectKept(crash, session);

    const turn = how === "send" ? session.send("Are you still there?") : session.resume();
    const asked: string[] = [];
    for await (const event of turn) {
      if (event.type !== "permission_request") continue;
      asked.push(event.requestId);
      await session.approve(event.requestId);
    }
    expect(await turn.result()).toMatchObject({ status: "completed" });
    const history = await historyOf(session);
    expect(asked).toHaveLength(how === "resume" ? 1 : 0);
    expect(crash.effects()).toHaveLength(how === "resume" ? 1 : 0);
    expect(ofType(history, "tool_result")).toMatchObject([
      how === "resume" ? { status: "ok" } : { status: "not_executed", text: NEVER_STARTED.text },
    ]);
    // Neither question is pending any more: an answer to the old one changes nothing.
    await expect(
      session.approve(ofType(history, "permission_request")[0]?.requestId ?? ""),
    ).rejects.toMatchObject({ code: "permission_not_pending" });
    expectTurns(history, how);
    expectAllAccepted(crash);
  });

  test.runIf(how === "resume")(
    "while asking for permission: the old id is refused until the resume, and then answers the same call once",
    async () => {
      const crash = await startCrash({ permissions: "ask" });
      await crash.seen("permission_request");
      await crash.kill();
      const session = await crash.reopen({ permissions: "ask" });
      const [old] = ofType(await historyOf(session), "permission_request");
      const approve = (argumentsHash = old?.argumentsHash): Promise<void> =>
        session.approve(old?.requestId ?? "", { argumentsHash });
      await expect(approve()).rejects.toMatchObject({
        code: "permission_not_pending",
        message: expect.stringContaining("Resume the turn; it asks again") as string,
      });
      const turn = session.resume();
      for await (const event of turn) {
        if (event.type !== "permission_request") continue;
        await expect(approve("of other arguments")).rejects.toMatchObject({ code: "permission_mismatch" });
        await approve();
        for (const id of [old?.requestId ?? "", event.requestId])
          await expect(session.deny(id)).rejects.toMatchObject({ code: "permission_not_pending" });
      }
      expect(await turn.result()).toMatchObject({ status: "completed" });
      expect(crash.effects()).toHaveLength(1);
      const history = await historyOf(session);
      const asked = ofType(history, "permission_request");
      expect(asked).toHaveLength(2);
      expect(ofType(history, "permission_decision")).toMatchObject([
        { decision: "allow", by: "person", requestId: asked[1]?.requestId },
      ]);
    },
  );

  test("between the end of the response and the end of the turn: the answer is whole, only the turn's end is missing", async () => {
    const dieAt = { call: "write", nth: -1, when: "before", type: "turn_end" } as const;
    const crash = await startCrash({ dieAt });
    await crash.child.exited;
    await crash.kill();
    const session = await crash.reopen();
    await expectKept(crash, session);
    expect(session.interrupted).toBe(true);
    expect((await historyOf(session)).at(-1)).toMatchObject({ type: "response_end", status: "completed" });
    const before = crash.emulator.exchanges.length;

    const result = await goOn(session, how);
    expect(result).toMatchObject({ status: "completed" });
    const history = await historyOf(session);
    expect(crash.effects()).toHaveLength(1);
    if (how === "resume") {
      expect(crash.emulator.exchanges).toHaveLength(before); // nothing was requested again
      expect(result.text).toContain("Sunny in Paris");
    }
    expect(ofType(history, "partial")).toEqual([]);
    expectTurns(history, how);
    expectAllAccepted(crash);
  });

  test("with one of two parallel tools done: its result stays, and the other's outcome is unknown", async () => {
    const crash = await startCrash({
      prompts: ["What is the weather in Rome and Oslo?"],
      block: { when: "after", city: "Oslo" },
    });
    await crash.seen("tool_result");
    await crash.child.line("blocked-after");
    await crash.kill();
    const session = await crash.reopen();
    await expectKept(crash, session);
    expect(await goOn(session, how)).toMatchObject({ status: "completed" });
    const history = await historyOf(session);
    expect(crash.effects().map((line) => line.split(" ")[0])).toEqual(["Rome", "Oslo"]);
    expect(ofType(history, "tool_result").map(({ status }) => status)).toEqual(["ok", "outcome_unknown"]);
    expectTurns(history, how);
    expectAllAccepted(crash);
  });
});

/**
 * Every turn has exactly one end; a resumed turn continues as itself, and one followed by a new message is interrupted.
 */
function expectTurns(history: Awaited<ReturnType<typeof historyOf>>, how: "send" | "resume"): void {
  const turns = new Set(history.flatMap((event) => (event.turn === undefined ? [] : [event.turn])));
  const ends = ofType(history, "turn_end");
  expect(ends.map(({ turn }) => turn).toSorted()).toEqual([...turns].toSorted());
  expect(ends.map(({ status }) => status)).toEqual(
    how === "resume" ? ["completed"] : ["interrupted", "completed"],
  );
  const epochs = history.map(({ epoch }) => epoch);
  expect([epochs[0], epochs.at(-1)]).toEqual([1, 2]);
}

test.each(["before", "after"] as const)(
  "an idempotent tool killed %s its effect runs again on resume, with the same key",
  async (when) => {
    const crash = await startCrash({ idempotent: true, block: { when, city: "Paris" } });
    await crash.child.line(`blocked-${when}`);
    await crash.kill();
    const session = await crash.reopen();
    expect(await session.resume().result()).toMatchObject({ status: "completed" });
    const effects = crash.effects();
    expect(effects).toHaveLength(when === "after" ? 2 : 1);
    const history = await historyOf(session);
    const starts = ofType(history, "tool_start");
    expect(starts).toHaveLength(2);
    expect(new Set(starts.map((start) => `Paris ${start.idempotencyKey}`))).toEqual(new Set(effects));
    expect(ofType(history, "tool_result")).toMatchObject([{ status: "ok" }]);
    expectAllAccepted(crash);
  },
);

test("an idempotent tool does not run again if the user sends a message instead of resuming", async () => {
  const crash = await startCrash({ idempotent: true, block: { when: "after", city: "Paris" } });
  await crash.child.line("blocked-after");
  await crash.kill();
  const session = await crash.reopen();
  expect(await session.send("Never mind.").result()).toMatchObject({ status: "completed" });
  expect(crash.effects()).toHaveLength(1);
});

test("a session killed twice, the second time while it resumes, can still continue", async () => {
  const crash = await startCrash({ block: { when: "after", city: "Paris" } });
  await crash.child.line("blocked-after");
  await crash.kill();
  const first = await crash.reopen();
  crash.emulator.addFaults(stallAfter(14));
  const turn = first.resume();
  for await (const event of turn) {
    if (event.type === "reasoning_delta") break;
  }
  await first.close(); // the turn ends as cancelled
  const second = await crash.reopen();
  expect(second.interrupted).toBe(false);
  expect(await second.send("And now?").result()).toMatchObject({ status: "completed" });
  expect(crash.effects()).toHaveLength(1);
  expectAllAccepted(crash);
});

test("opening and reading an interrupted session changes nothing: the next writer recovers it when it continues", async () => {
  const crash = await startCrash({}, { faults: [stallAfter(14)] });
  await crash.seen("reasoning_delta");
  await crash.kill();
  const session = await crash.reopen();
  const before = await historyOf(session);
  const preview = await session.preview();
  await session.close();
  const again = await crash.reopen();
  expect(await historyOf(again)).toEqual(before);
  // The request is also the same before and after recovery: fold(log) == fold(recover(log)).
  const turn = again.resume();
  await turn.result();
  const start = ofType(await historyOf(again), "response_start")[1];
  expect(start?.bodyHash).toBe(preview.bodyHash);
});
