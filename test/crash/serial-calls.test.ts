import { describe, expect, test } from "vitest";

import { expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";

const PROMPT = "What is the weather in Paris and in Rome?";

describe("kill -9 with two calls that run one at a time", () => {
  test.for([
    ["after its effect", "after", 1],
    ["before its effect", "before", 0],
  ] as const)("during the first, %s: resume runs only the second", async ([, when, done]) => {
    const crash = await startCrash({ prompts: [PROMPT], parallel: false, block: { when, city: "Paris" } });
    await crash.seen("tool_start");
    await crash.child.line(`blocked-${when}`);
    await crash.kill();
    expect(crash.effects()).toHaveLength(done);

    const session = await crash.reopen();
    await expectKept(crash, session);
    expect(ofType(await historyOf(session), "tool_start")).toHaveLength(1);
    expect(await session.resume().result()).toMatchObject({ status: "completed" });
    expect(crash.effects().map((line) => line.split(" ")[0])).toEqual([
      ...(done === 1 ? ["Paris"] : []),
      "Rome",
    ]);
    const history = await historyOf(session);
    expect(ofType(history, "tool_result").map(({ status }) => status)).toEqual(["outcome_unknown", "ok"]);
    expect(ofType(history, "tool_start")).toHaveLength(2);
    expectAllAccepted(crash);
  });

  test("during the second: its outcome is unknown, and the first is not repeated", async () => {
    const crash = await startCrash({
      prompts: [PROMPT],
      parallel: false,
      block: { when: "before", city: "Rome" },
    });
    await crash.child.line("blocked-before");
    await crash.kill();
    const session = await crash.reopen();
    expect(await session.send("Go on.").result()).toMatchObject({ status: "completed" });
    expect(crash.effects()).toHaveLength(1);
    const results = ofType(await historyOf(session), "tool_result").map(({ status }) => status);
    expect(results).toEqual(["ok", "outcome_unknown"]);
  });
});
