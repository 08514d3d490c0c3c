import { expect, test } from "vitest";

import { costOf } from "../providers/index.ts";
import { emulator, openai } from "./index.ts";
import { priced, pricedModels, priceOf } from "./prices.ts";

const usage = (inputTokens: number, cachedTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedTokens,
  outputTokens,
  reasoningTokens: 0,
});

test.for([
  ["openai", "gpt-5.6", 4],
  ["openai", "gpt-5.6-2026-08-01", 4],
  ["openai", "gpt-5.6-sol", 4],
  ["anthropic", "claude-haiku-4-5-20251001", 1],
  ["emulator", "emu-reasoner", 0],
  ["openai", "gpt-5.6-ultra", undefined],
  ["openai", "claude-opus-5", undefined],
  ["somebody", "gpt-5.6", undefined],
] as const)("%s/%s costs %s USD per million input tokens", ([provider, model, expected]) => {
  expect(priceOf(provider, model)?.input).toBe(expected);
});

test("the price on another endpoint is not known, since it may charge differently", () => {
  expect(priceOf("openai", "gpt-5.6", "https://api.openai.com/v1")?.input).toBe(4);
  expect(priceOf("openai", "gpt-5.6", "http://127.0.0.1:4320/v1")).toBeUndefined();
});

test("cached tokens are part of the input and cost less; a long request costs more as a whole", () => {
  const price = priceOf("openai", "gpt-5.6");
  if (price === undefined) throw new Error("no price");
  expect(costOf(price, usage(1_000, 0, 0))).toBeCloseTo(0.004, 10);
  expect(costOf(price, usage(1_000, 1_000, 0))).toBeCloseTo(0.0004, 10);
  expect(costOf(price, usage(0, 0, 1_000))).toBeCloseTo(0.02, 10);
  expect(costOf(price, usage(272_000, 0, 0))).toBeCloseTo(1.088, 10);
  expect(costOf(price, usage(300_000, 0, 0))).toBeCloseTo(2.4, 10);
});

test("every row has a date, a source and consistent figures", () => {
  for (const provider of ["openai", "anthropic"]) {
    for (const model of pricedModels(provider)) {
      const price = priceOf(provider, model);
      expect(price?.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(price?.source).toMatch(/^https:\/\//);
      expect(
        price === undefined ? false : price.cachedInput < price.input && price.input < price.output,
      ).toBe(true);
    }
  }
});

test("a model keeps its price when its effort changes", () => {
  expect(priced(emulator()).withEffort("low").price?.input).toBe(0);
  const own = { input: 1, cachedInput: 1, output: 2, asOf: "x", source: "y" };
  expect(priced(openai("any", { apiKey: "k" }), own).withEffort("low").price).toBe(own);
});

test("a model takes a price that its user gives, and keeps it under another effort", () => {
  const made = openai("own-model", {
    apiKey: "sk-x",
    baseUrl: "http://127.0.0.1:9/v1",
    price: { input: 2, output: 8 },
  });
  expect(made.price).toMatchObject({ input: 2, cachedInput: 2, output: 8 });
  expect(made.withEffort("low").price).toEqual(made.price);
  expect(() => openai("m", { price: { input: 2, output: 8, outputt: 1 } as never })).toThrow(
    'openai: unknown option "price.outputt"',
  );
});
