import { expect, test } from "vitest";

import { usageOf } from "./usage.ts";

const start = {
  input_tokens: 10,
  cache_read_input_tokens: 90_000,
  cache_creation_input_tokens: 0,
  output_tokens: 1,
};
const summed = {
  input_tokens: 50,
  cache_read_input_tokens: 950_598,
  cache_creation_input_tokens: 0,
  output_tokens: 700,
};
const pass = (type: string, input_tokens: number, output_tokens: number): object => ({
  type,
  input_tokens,
  output_tokens,
});

test("with one pass, the context is what was counted", () => {
  expect(usageOf([start, { output_tokens: 5 }], true)).toEqual({
    inputTokens: 90_010,
    cachedTokens: 90_000,
    outputTokens: 5,
    reasoningTokens: 0,
  });
});

test("with several passes, the sum is billed and the last pass is the context", () => {
  const iterations = [pass("message", 90_010, 300), pass("message", 96_000, 400)];
  expect(usageOf([start, { ...summed, iterations }], true)).toEqual({
    inputTokens: 950_648,
    cachedTokens: 950_598,
    outputTokens: 700,
    reasoningTokens: 0,
    contextTokens: 96_400,
  });
});

test("compaction and adviser passes do not count as the conversation's context", () => {
  const iterations = [pass("message", 96_000, 400), pass("advisor_message", 5, 5), pass("compaction", 9, 9)];
  expect(usageOf([start, { ...summed, iterations }], true)?.contextTokens).toBe(96_400);
});

test("without a list of passes, the context comes from the first report, and only if tools ran", () => {
  expect(usageOf([start, summed], true)?.contextTokens).toBe(90_710);
  expect(usageOf([start, summed], false)?.contextTokens).toBeUndefined();
  expect(usageOf([{ input_tokens: 0, output_tokens: 0 }, summed], true)?.contextTokens).toBeUndefined();
});
