import { afterAll, describe, expect, test } from "vitest";

import { type Crash, expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";
import type { CrashPlan } from "./crash-plan.ts";

/** THROUGHLINE_RUNS=1000 covers every system call; the quick form covers some of each kind. */
const all = Number(process.env["THROUGHLINE_RUNS"] ?? 0) >= 1000;

type DieAt = NonNullable<CrashPlan["dieAt"]>;

const points = (call: "write" | "sync", quick: readonly number[], last: number): readonly number[] =>
  all ? Array.from({ length: last }, (_, index) => index + 1) : quick.filter((nth) => nth <= last);

const PROMPTS = ["What is the weather in Paris?", "What is the weather in Rome and Oslo?"];

async function dieAndResume(dieAt: DieAt): Promise<{ readonly crash: Crash; readonly died: boolean }> {
  const crash = await startCrash({ prompts: PROMPTS, dieAt });
  await crash.child.exited;
  await crash.kill();
  const died = await crash.child.line("end").then(
    () => false,
    () => true,
  );
  return { crash, died };
}

/** Where the process really died. A sweep that killed nothing must not pass. */
const reached: DieAt[] = [];

afterAll(() => expect(reached.length).toBeGreaterThanOrEqual(all ? 60 : 10));

describe("after SIGKILL at a system call of the log, the session continues", () => {
  const cases: readonly DieAt[] = [
    ...points("write", [1, 2, 4, 7, 10, 14], 26).flatMap((nth): readonly DieAt[] => [
      { call: "write", nth, when: "torn" },
      ...(all
        ? ([
            { call: "write", nth, when: "before" },
            { call: "write", nth, when: "after" },
          ] as const)
        : []),
    ]),
    ...points("sync", [1, 2, 4, 6], 10).flatMap((nth): readonly DieAt[] => [
      { call: "sync", nth, when: "before" },
      ...(all ? ([{ call: "sync", nth, when: "after" }] as const) : []),
    ]),
  ];
  test.each(cases.map((one) => [`${one.when} ${one.call} ${one.nth}`, one] as const))(
    "%s",
    async (_name, dieAt) => {
      const { crash, died } = await dieAndResume(dieAt);
      const session = await crash.reopen();
      if (crash.acknowledged.length > 0) await expectKept(crash, session);
      if (!died) return; // the session needed fewer calls than that
      reached.push(dieAt);
      const ran = crash.effects();
      const turn = session.interrupted ? session.resume() : session.send("What is the weather in Paris?");
      expect(await turn.result()).toMatchObject({ status: "completed" });
      expect(await session.send("Thanks").result()).toMatchObject({ status: "completed" });
      const history = await historyOf(session);
      // Law 5: no call ran twice. Every effect belongs to its own tool_start, and every start to at most one effect.
      const effects = crash.effects();
      expect(effects.slice(0, ran.length)).toEqual(ran);
      expect(new Set(effects).size).toBe(effects.length);
      const keys = ofType(history, "tool_start").map((start) => start.idempotencyKey);
      expect(new Set(keys).size).toBe(keys.length);
      for (const effect of effects) expect(keys).toContain(effect.split(" ")[1]);
      // Every call of a whole response has exactly one result, and every turn one end.
      const whole = new Set(
        ofType(history, "response_end").flatMap(({ status, response }) =>
          status === "completed" ? [response] : [],
        ),
      );
      const calls = ofType(history, "tool_call").flatMap(({ callId, response }) =>
        whole.has(response) ? [callId] : [],
      );
      const answered = ofType(history, "tool_result").map(({ callId }) => callId);
      expect(answered.toSorted()).toEqual(calls.toSorted());
      const turns = new Set(history.flatMap(({ turn: id }) => (id === undefined ? [] : [id])));
      expect(ofType(history, "turn_end")).toHaveLength(turns.size);
      expectAllAccepted(crash);
    },
  );
});
