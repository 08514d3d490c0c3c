import { expect, test } from "vitest";

import { startEmulator } from "../../src/emulator/index.ts";
import { createAgent, memoryStore } from "../../src/index.ts";
import { practiceModel } from "../support/practice-models.ts";

test("thoughts of another branch or fork are not missed, but an omitted thought is", async () => {
  const emulator = await startEmulator();
  const agent = createAgent({ model: practiceModel("home", emulator.baseUrl) });
  const session = await agent.open({ id: "s", store: memoryStore() });
  const lost = /no longer have my notes/;
  await session.send("Hello").text();
  const child = await session.fork({ id: "child" });
  await child.send("And you?").text();
  expect(await session.send("Good morning").text()).not.toMatch(lost);
  await session.retry().text();
  expect(await session.send("Good evening").text()).not.toMatch(lost);
  // The same emulator does report it when reasoning is really omitted.
  await session.setModel(practiceModel("other", emulator.baseUrl));
  expect(await session.send("Good night").text()).toMatch(lost);
  await child.close();
  await session.close();
  await emulator.close();
});
