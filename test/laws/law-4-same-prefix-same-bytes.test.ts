import { afterAll, beforeAll, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, type Session } from "../../src/index.ts";
import { practiceModel } from "../support/practice-models.ts";
import { practiceTools } from "../support/practice-tools.ts";
import { inputTexts, modelOf } from "../support/request-body.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

test("law 4: one origin's input only grows, across tools, turns, model and effort switches, a restart and a fork", async () => {
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: practiceTools({ began: () => undefined }),
    permissions: "auto",
  });
  let session: Session = await agent.open({ id: "s" });
  await session.send("What is the weather in Rome and Oslo and Lima?").result();
  await session.setModel(practiceModel("other", emulator.baseUrl));
  await session.send("Look at two files, thinking in between.").result();
  await session.setModel(practiceModel("home", emulator.baseUrl, "high"));
  await session.send("Explain while you work.").result();
  await session.close();
  session = await agent.open({ id: "s" });
  await session.send("Do the five-step chain.").result();
  session = await session.fork();
  await session.send("Thanks").result();

  for (const model of ["emu-reasoner", "emu-reasoner-two"]) {
    const inputs = emulator.exchanges
      .map(({ requestText }) => requestText)
      .filter((text) => modelOf(text) === model)
      .map(inputTexts);
    expect(inputs.length).toBeGreaterThan(1);
    for (const [index, input] of inputs.entries()) {
      const before = inputs[index - 1] ?? [];
      expect(input.slice(0, before.length)).toEqual(before);
    }
  }
});

test("law 4: an event records every break of the prefix, and explain names what the break removed", async () => {
  const agent = createAgent({ model: practiceModel("home", emulator.baseUrl) });
  const session = await agent.open({ id: "b" });
  await session.send("Thanks").result();
  await session.send("Please refuse this.").result();
  await session.keepLastTurns(1);
  const decisions = await session.explain();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  expect(events.at(-1)?.type).toBe("compaction");
  expect(decisions.map(({ type, reason }) => [type, reason])).toEqual([
    ["user_message", "compacted"],
    ["reasoning", "compacted"],
    ["assistant_message", "compacted"],
    ["user_message", "user_input"],
    ["reasoning", "same_origin"],
    ["assistant_message", "same_origin"],
  ]);
});
