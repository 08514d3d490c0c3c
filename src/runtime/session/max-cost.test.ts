import { expect, test } from "vitest";

import { weatherTool } from "../../../test/support/weather-tool.ts";
import { emulator, openai, priced } from "../models/index.ts";
import type { Price } from "../providers/index.ts";
import { createAgent } from "./agent.ts";

const price = (input: number): Price => ({
  input,
  cachedInput: input,
  output: input,
  asOf: "now",
  source: "test",
});
const PROMPT = "What is the weather in Paris and in Rome?";

test("a turn that has reached its cost limit sends no further request, and its calls are not run", async () => {
  const agent = createAgent({
    model: priced(emulator(), price(1_000_000)), // a dollar per token
    tools: [weatherTool],
    limits: { maxCostUsd: 1 },
  });
  const session = await agent.open();
  const result = await session.send(PROMPT).result();
  expect(result).toMatchObject({ status: "incomplete", reason: "max_cost", steps: 1 });
  const results = [];
  for await (const event of session.events()) if (event.type === "tool_result") results.push(event.status);
  expect(results).toEqual(["not_executed", "not_executed"]);
  expect(await session.send("Hello").result()).toMatchObject({ status: "completed" });
});

test("below the limit nothing changes", async () => {
  const agent = createAgent({
    model: priced(emulator(), price(0.000_001)),
    tools: [weatherTool],
    limits: { maxCostUsd: 1 },
  });
  const session = await agent.open();
  expect(await session.send(PROMPT).result()).toMatchObject({ status: "completed", steps: 2 });
});

test("a cost limit needs a price: refused at once, and after a switch to a model without one", async () => {
  const unpriced = openai("some-model", { apiKey: "sk-unused-0000", baseUrl: "http://127.0.0.1:1/v1" });
  expect(() => createAgent({ model: unpriced, limits: { maxCostUsd: 1 } })).toThrow(
    expect.objectContaining({ code: "price_unknown" }),
  );
  const session = await createAgent({ model: emulator(), limits: { maxCostUsd: 1 } }).open();
  await session.setModel(unpriced);
  expect(await session.send("Hello").result()).toMatchObject({
    status: "failed",
    error: { code: "price_unknown" },
  });
  expect(() => createAgent({ model: emulator(), limits: { maxCostUsd: 0 } })).toThrow(
    expect.objectContaining({ code: "options_invalid" }),
  );
});
