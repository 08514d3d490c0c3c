/** The tokens that a response, a turn or a session used. */
export interface Usage {
  readonly inputTokens: number;
  /** The part of `inputTokens` that the provider read from its cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** The part of `outputTokens` that is reasoning. */
  readonly reasoningTokens: number;
  /** What the context held in the end, if the counts above are sums over several passes of the provider's server. */
  readonly contextTokens?: number | undefined;
}

export const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
}
