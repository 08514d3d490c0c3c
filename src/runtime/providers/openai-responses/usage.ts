import type { Usage } from "../../../base/events/index.ts";
import { isObject, numberOf, objectOf } from "../../../base/support/index.ts";

/** Nested counts, any of which may be missing (failures.md §2.5). Undefined when nothing was reported: unknown is not 0. */
export function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  return {
    inputTokens: numberOf(value["input_tokens"]) ?? 0,
    cachedTokens: numberOf(objectOf(value["input_tokens_details"])["cached_tokens"]) ?? 0,
    outputTokens: numberOf(value["output_tokens"]) ?? 0,
    reasoningTokens: numberOf(objectOf(value["output_tokens_details"])["reasoning_tokens"]) ?? 0,
  };
}
