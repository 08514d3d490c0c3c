import { afterEach, beforeEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, memoryStore, type Session } from "../../src/index.ts";
import { practiceModel } from "../support/practice-models.ts";

let emulator: Emulator;
let session: Session;

beforeEach(async () => {
  emulator = await startEmulator();
  const agent = createAgent({ model: practiceModel("home", emulator.baseUrl) });
  session = await agent.open({ id: "healed", store: memoryStore() });
  await session.send("Think of a number.").result();
  emulator.rotateKey();
  // Refused once and healed: the earlier thoughts are omitted from now on.
  await session.send("Hello").result();
});

afterEach(async () => {
  await session.close();
  await emulator.close();
});

const refused = (): number =>
  emulator.report().requests.filter(({ verdict }) => verdict === "refused").length;

test("an origin's refusal also holds on a branch without the refusal: no second 400", async () => {
  expect(refused()).toBe(1);
  expect((await session.retry().result()).status).toBe("completed");
  expect((await session.retry().result()).status).toBe("completed");
  expect(refused()).toBe(1);
});

test("a refusal holds in a fork, even one from before the refusal's branch, and a fork continues with the same model", async () => {
  await session.retry().result();
  const child = await session.fork({ id: "child" });
  expect(child.model).toBe(session.model);
  expect((await child.send("And now?").result()).status).toBe("completed");
  expect(refused()).toBe(1);
  await child.close();
});
