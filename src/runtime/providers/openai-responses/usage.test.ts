import { expect, test } from "vitest";

import { usageOf } from "./usage.ts";

test("usage is read from its nested counts; those that are missing are zero", () => {
  expect(
    usageOf({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
    }),
  ).toEqual({ inputTokens: 10, cachedTokens: 4, outputTokens: 7, reasoningTokens: 3 });
  expect(usageOf({ input_tokens: 10, output_tokens: "7" })).toEqual({
    inputTokens: 10,
    cachedTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
  });
});

test.each([null, undefined, 7, []])("usage of %j is unknown, which is not zero", (value) => {
  expect(usageOf(value)).toBeUndefined();
});

test("what xAI's last pass held is told beside the sum of its passes, and only where they differ", () => {
  const counts = { input_tokens: 950, output_tokens: 40 };
  const held = (input_tokens: number, output_tokens: number): unknown =>
    usageOf({ ...counts, context_details: { input_tokens, output_tokens } })?.contextTokens;
  expect([held(210, 25), held(950, 40), usageOf(counts)?.contextTokens]).toEqual([235, undefined, undefined]);
});
