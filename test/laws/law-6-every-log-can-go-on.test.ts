import { afterEach, beforeEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent } from "../../src/index.ts";
import { storeWith } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { practiceTools } from "../support/practice-tools.ts";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

const agentOn = (baseUrl: string) =>
  createAgent({
    model: practiceModel("home", baseUrl),
    tools: practiceTools({ began: () => undefined }),
    permissions: "auto",
  });

test("law 6: a session that died after any event continues with the next message, and every request is accepted", async () => {
  const agent = agentOn(emulator.baseUrl);
  const session = await agent.open({ id: "s" });
  await session.send("What is the weather in Rome and Lima?").result();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  for (let length = 1; length <= events.length; length += 1) {
    const store = await storeWith("s", events.slice(0, length));
    const again = await agent.open({ id: "s", store });
    const { status, text } = await again.send("What did I ask first?").result();
    await again.close();
    expect({ length, status, answered: text !== "" }).toEqual({
      length,
      status: "completed",
      answered: true,
    });
  }
  expect(emulator.report().totals.refused).toBe(0);
});

test("law 6: a turn interrupted after any event can be resumed to its end, and every request is accepted", async () => {
  const agent = agentOn(emulator.baseUrl);
  const session = await agent.open({ id: "s" });
  await session.send("What is the weather in Rome and Lima?").result();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  const first = events.findIndex((event) => event.type === "user_message");
  for (let length = first + 1; length < events.length; length += 1) {
    const store = await storeWith("s", events.slice(0, length));
    const again = await agent.open({ id: "s", store });
    const { status } = await again.resume().result();
    await again.close();
    expect({ length, status }).toEqual({ length, status: "completed" });
  }
  expect(emulator.report().totals.refused).toBe(0);
});

test("law 6: when the provider refuses items it accepted before, the refusal is classified, recorded and healed, and stays healed", async () => {
  const session = await agentOn(emulator.baseUrl).open({ id: "s" });
  await session.send("What is the weather in Paris?").result();
  emulator.rotateKey();
  const healed = await session.send("Thanks").result();
  const later = await session.send("Thanks again").result();
  const overrides: unknown[] = [];
  for await (const event of session.events()) {
    if (event.type === "replay_override") overrides.push([event.action, event.cause.class, event.cause.code]);
  }
  expect({
    statuses: [healed.status, later.status],
    overrides,
    verdicts: emulator.report().requests.map(({ verdict, rule }) => rule ?? verdict),
  }).toEqual({
    statuses: ["completed", "completed"],
    overrides: [["omit_reasoning", "CRYPT", "invalid_encrypted_content"]],
    verdicts: ["accepted", "accepted", "E01", "accepted", "accepted"],
  });
});
