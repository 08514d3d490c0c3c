import { expect, test } from "vitest";

import { expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";
import type { CrashPlan } from "./crash-plan.ts";

const output = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

const about = (type: string): CrashPlan["dieAt"] => ({ call: "write", nth: 0, when: "before", type });

test.each([
  ["right after its opening", about("response_start")],
  ["before its answer", about("assistant_message")],
  ["after its tools", about("tool_result")],
  ["between its answer and its end", about("turn_end")],
])("after kill -9 %s, a resumed turn still answers with its schema", async (_when, dieAt) => {
  const crash = await startCrash({ output, ...(dieAt === undefined ? {} : { dieAt }) });
  await crash.child.exited;
  await crash.kill();
  const session = await crash.reopen();
  await expectKept(crash, session);
  expect(session.interrupted).toBe(true);

  const result = await session.resume().result();
  expect(result).toMatchObject({
    status: "completed",
    output: { city: expect.any(String), degrees: expect.any(Number) },
  });
  const starts = ofType(await historyOf(session), "response_start");
  for (const [index] of starts.entries()) {
    const { proof, body } = await session.rebuild(index + 1);
    expect(proof).toBe("same");
    expect(JSON.parse(body)).toMatchObject({ text: { format: { type: "json_schema", schema: output } } });
  }
  expectAllAccepted(crash);
});

test("a write of the opening that was torn leaves a session that continues", async () => {
  const crash = await startCrash({ output, dieAt: { call: "write", nth: 1, when: "torn" } });
  await crash.child.exited;
  await crash.kill();
  const session = await crash.reopen();
  const turn = session.interrupted ? session.resume() : session.send("Weather in Paris?", { output });
  expect(await turn.result()).toMatchObject({ status: "completed", output: { city: expect.any(String) } });
  expectAllAccepted(crash);
});
