import { expect, test } from "vitest";

import { loadScenario } from "../../src/emulator/index.ts";
import { expectAllAccepted, expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";

const WRITTEN = '{"city": "Paris"';
const REPAIRED = '{"city":"Paris"}';

test("kill -9 during a repaired call: resume runs it again with the text in the log", async () => {
  const steps = [
    { output: [{ function_call: { name: "get_weather", arguments: WRITTEN } }] },
    { output: [{ message: "Sunny." }] },
  ];
  const crash = await startCrash(
    { repaired: REPAIRED, idempotent: true, block: { when: "before", city: "Paris" } },
    { scenario: loadScenario(JSON.stringify({ steps }), "repaired.json") },
  );
  await crash.seen("tool_start");
  await crash.child.line("blocked-before");
  await crash.kill();

  const session = await crash.reopen({ repaired: '{"city":"Rome"}' });
  await expectKept(crash, session);
  expect(await session.resume().result()).toMatchObject({ status: "completed", text: "Sunny." });
  expect(crash.effects()).toEqual([expect.stringMatching(/^Paris /)]);
  const history = await historyOf(session);
  expect(ofType(history, "tool_call")).toMatchObject([{ arguments: WRITTEN }]);
  expect(ofType(history, "tool_start").map(({ arguments: text }) => text)).toEqual([REPAIRED, REPAIRED]);
  expectAllAccepted(crash);
});
