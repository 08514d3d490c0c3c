/** Tokens and times per step. Pure. */

import type { RequestFacts } from "../../runtime/facts/index.ts";

export interface StepFigures {
  readonly label: string;
  readonly tokens: {
    readonly fresh: number;
    readonly cached: number;
    readonly reasoning: number;
    readonly answer: number;
  };
  /** In milliseconds. */
  readonly time: { readonly thinking: number; readonly tools: number; readonly answer: number };
}

/** Returns the figures of the requests that have ended. */
export function stepFigures(requests: readonly RequestFacts[]): readonly StepFigures[] {
  return requests
    .flatMap(({ end, thinkingMs, tools }) => (end === undefined ? [] : [{ end, thinkingMs, tools }]))
    .map(({ end, thinkingMs, tools }, index) => {
      const { inputTokens = 0, cachedTokens = 0, outputTokens = 0, reasoningTokens = 0 } = end.usage ?? {};
      const thinking = Math.min(thinkingMs, end.durationMs);
      return {
        label: String(index + 1),
        tokens: {
          fresh: Math.max(0, inputTokens - cachedTokens),
          cached: cachedTokens,
          reasoning: reasoningTokens,
          answer: Math.max(0, outputTokens - reasoningTokens),
        },
        time: {
          thinking,
          tools: tools.reduce((sum, { result }) => sum + (result?.durationMs ?? 0), 0),
          answer: end.durationMs - thinking,
        },
      };
    });
}
