import { expect, test } from "vitest";

import { usageOf } from "./usage.ts";

test("usage is read from its nested counts; missing ones are zero", () => {
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

test.each([null, undefined, 7, []])("the usage %j is unknown, which is not zero", (value) => {
  expect(usageOf(value)).toBeUndefined();
});

test("xAI's last pass is reported as the context size, if it differs from the sum of all passes", () => {
  const counts = { input_tokens: 950, output_tokens: 40 };
  const held = (input_tokens: number, output_tokens: number): unknown =>
    usageOf({ ...counts, context_details: { input_tokens, output_tokens } })?.contextTokens;
  expect([held(210, 25), held(950, 40), usageOf(counts)?.contextTokens]).toEqual([235, undefined, undefined]);
});
