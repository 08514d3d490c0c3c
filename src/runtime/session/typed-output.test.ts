import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { loadScenario } from "../../emulator/index.ts";
import { emulator } from "../models/index.ts";
import { createAgent } from "./agent.ts";

const steps = [{ output: [{ message: '{"city":"Paris","degrees":21}' }] }];
const scenario = loadScenario(JSON.stringify({ steps }), "test.json");

test("the value of an answer has the type of its Standard Schema; a plain JSON Schema gives no type", async () => {
  const session = await createAgent({ model: emulator({ scenario }) }).open();
  const schema = z.object({ city: z.string(), degrees: z.number() });
  const { output } = await session.send("Weather?", { output: schema }).result();
  expectTypeOf(output).toEqualTypeOf<{ city: string; degrees: number } | undefined>();
  expect(output).toEqual({ city: "Paris", degrees: 21 });
  const plain = session.send("Weather?", { output: { type: "object" } });
  expectTypeOf(plain.result()).resolves.toHaveProperty("output").toEqualTypeOf<unknown>();
  await plain.result();
});
