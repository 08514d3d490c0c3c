import { expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { expectKept, historyOf, ofType, startCrash } from "./crash-fixture.ts";

test("kill -9 after a fallback: resume continues on the fallback, and the next turn on the first model", async () => {
  const second = await startEmulator();
  afterTest(() => second.close());
  const crash = await startCrash(
    {
      fallbackUrl: second.baseUrl.replace(/\/v1$/, ""),
      idempotent: true,
      block: { when: "before", city: "Paris" },
    },
    { faults: [{ type: "http", status: 429, code: "insufficient_quota" }] },
  );
  await crash.seen("tool_start");
  await crash.child.line("blocked-before");
  await crash.kill();
  expect([crash.emulator.exchanges.length, second.exchanges.length]).toEqual([1, 1]);

  const session = await crash.reopen();
  await expectKept(crash, session);
  expect(session.model.label).toBe("openai/emu-reasoner");
  expect(await session.resume().result()).toMatchObject({ status: "completed" });
  expect(crash.effects()).toHaveLength(1);
  expect([crash.emulator.exchanges.length, second.exchanges.length]).toEqual([1, 2]);

  expect(await session.send("And now?").result()).toMatchObject({ status: "completed" });
  expect(second.exchanges).toHaveLength(2);
  const history = await historyOf(session);
  expect(ofType(history, "notice").filter(({ code }) => code === "model_fallback")).toHaveLength(1);
  expect(ofType(history, "response_start").at(-1)?.origin.model).toBe("emu-reasoner");
});
