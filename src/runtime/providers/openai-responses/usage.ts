import type { Usage } from "../../../base/events/index.ts";
import { isObject, numberOf, objectOf } from "../../../base/support/index.ts";

/**
 * Reads nested counts, any of which may be missing (failures.md §2.5). Undefined if nothing was reported: unknown is
 * not 0.
 */
export function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  // xAI sums the passes of its own tools, and reports the size of the last pass separately.
  const { input_tokens: held, output_tokens: written } = objectOf(value["context_details"]);
  const lastPass = (numberOf(held) ?? 0) + (numberOf(written) ?? 0);
  const inputTokens = numberOf(value["input_tokens"]) ?? 0;
  const outputTokens = numberOf(value["output_tokens"]) ?? 0;
  return {
    inputTokens,
    cachedTokens: numberOf(objectOf(value["input_tokens_details"])["cached_tokens"]) ?? 0,
    outputTokens,
    reasoningTokens: numberOf(objectOf(value["output_tokens_details"])["reasoning_tokens"]) ?? 0,
    contextTokens: lastPass === 0 || lastPass === inputTokens + outputTokens ? undefined : lastPass,
  };
}
