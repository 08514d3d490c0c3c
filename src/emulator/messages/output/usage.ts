/**
 * Usage as Claude counts it: `input_tokens` excludes cache reads and writes, and nothing is cached unless the request
 * says so.
 */

import type { JsonObject } from "../../../base/support/index.ts";
import type { Draft } from "../../output/draft.ts";
import { outputTokens } from "../../output/usage.ts";

export interface InputTokens {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export function inputTokens(
  prompt: { readonly input: number; readonly cached: number },
  options: { readonly caches: boolean; readonly minimum: number },
): InputTokens {
  const read = options.caches ? prompt.cached : 0;
  const written = options.caches && prompt.input >= options.minimum ? prompt.input - read : 0;
  return {
    input_tokens: prompt.input - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  };
}

/** At the start, when only the input is known. */
export function startUsage(input: InputTokens): JsonObject {
  return {
    ...input,
    cache_creation: {
      ephemeral_5m_input_tokens: input.cache_creation_input_tokens,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: 1,
    service_tier: "standard",
    inference_geo: "not_available",
  };
}

/** `limit`: the tokens a shortened message used, whatever is visible of it. */
export function outputUsage(drafts: readonly Draft[], limit: number | undefined): JsonObject {
  const { all, reasoning } = outputTokens(drafts);
  const thinking = Math.min(reasoning, limit ?? reasoning);
  return { output_tokens: limit ?? all, output_tokens_details: { thinking_tokens: thinking } };
}
