/** Token counts of a chat completion; vendors put them in different fields. */

import type { Usage } from "../../../base/events/index.ts";
import { isObject, numberOf, objectOf } from "../../../base/support/index.ts";

export function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const cached =
    numberOf(objectOf(value["prompt_tokens_details"])["cached_tokens"]) ??
    numberOf(value["prompt_cache_hit_tokens"]) ?? // DeepSeek
    numberOf(value["cached_tokens"]); // Moonshot
  return {
    inputTokens: numberOf(value["prompt_tokens"]) ?? 0,
    cachedTokens: cached ?? 0,
    outputTokens: numberOf(value["completion_tokens"]) ?? 0,
    reasoningTokens: numberOf(objectOf(value["completion_tokens_details"])["reasoning_tokens"]) ?? 0,
  };
}
