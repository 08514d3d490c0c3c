/**
 * Cumulative: the last report counts. What was read from and written to the cache comes on top of `input_tokens`.
 */

import type { Usage } from "../../../base/events/index.ts";
import { isObject, type JsonObject, numberOf, objectOf } from "../../../base/support/index.ts";

export function usageOf(reports: readonly unknown[]): Usage | undefined {
  const known = reports.filter(isObject);
  if (known.length === 0) return undefined;
  const merged: JsonObject = Object.assign({}, ...known.map(withoutNulls));
  const count = (field: string): number => numberOf(merged[field]) ?? 0;
  const cachedTokens = count("cache_read_input_tokens");
  return {
    inputTokens: count("input_tokens") + cachedTokens + count("cache_creation_input_tokens"),
    cachedTokens,
    outputTokens: count("output_tokens"),
    reasoningTokens: numberOf(objectOf(merged["output_tokens_details"])["thinking_tokens"]) ?? 0,
  };
}

function withoutNulls(report: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(report).filter(([, value]) => value !== null));
}
