import { expect, test } from "vitest";

import { HOME, LogBuilder } from "../../../test/contracts/log-builder.ts";
import type { Usage } from "../../base/events/index.ts";
import { costOfSummary, factsOf, summaryOf } from "./index.ts";

const usageOf = (inputTokens: number): Usage => ({
  inputTokens,
  cachedTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
});

/** Like real prices: a long request costs more per token. */
const costOf = (origin: { readonly model: string }, { inputTokens }: Usage): number | undefined => {
  if (origin.model === "unpriced") return undefined;
  return (inputTokens * (inputTokens > 100 ? 0.7 : 0.1)) / 3;
};

function logOf(...requests: readonly (readonly [tokens: number, model?: string])[]): LogBuilder {
  const log = new LogBuilder().user("hello");
  for (const [tokens, model = HOME.model] of requests)
    log.respond({ usage: usageOf(tokens), origin: { ...HOME, model } });
  return log;
}

test.each([
  ["without requests", []],
  ["if each request is short but their sum is long", [[60], [60], [60]]],
  ["if one request is long", [[60], [101], [60, "other"], [60]]],
  ["if one price is not known", [[60], [60, "unpriced"], [60]]],
] as const)("the cost %s equals that of the facts", (_what, requests) => {
  const { events } = logOf(...requests);
  expect(costOfSummary(summaryOf(factsOf(events)), costOf)).toBe(factsOf(events, costOf).costUsd);
});

test("an end whose request is not in the log has no known price, as in the facts", () => {
  const log = logOf([60]).add({
    type: "response_end",
    response: "nowhere",
    status: "completed",
    durationMs: 1,
    usage: usageOf(1),
  });
  expect(factsOf(log.events, costOf).costUsd).toBeUndefined();
  expect(costOfSummary(summaryOf(factsOf(log.events)), costOf)).toBeUndefined();
});

test("a summary does not change while its facts grow", () => {
  const log = logOf([60]);
  const facts = factsOf(log.events);
  const summary = summaryOf(facts);
  const before = structuredClone(summary);
  facts.add(logOf([60], [70], [80]).endTurn().events);
  expect(summary).toEqual(before);
  expect(summaryOf(facts).spent).toHaveLength(3);
});
