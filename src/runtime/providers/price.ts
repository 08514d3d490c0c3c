/** Token prices and the cost of a response. Pure; the figures are in src/runtime/models/prices.ts. */

import type { Usage } from "../../base/events/index.ts";

interface Rates {
  /** USD per million tokens. */
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

export interface Price extends Rates {
  /** Higher rates for the whole request, if it has more than `above` input tokens. */
  readonly long?: (Rates & { readonly above: number }) | undefined;
  /** The date the figures were read. */
  readonly asOf: string;
  readonly source: string;
}

const MILLION = 1_000_000;

/**
 * Returns the cost in USD. Input tokens include cached ones, and output tokens include reasoning. Cache writes count as
 * plain input.
 */
export function costOf(price: Price, usage: Usage): number {
  const { input, cachedInput, output } =
    price.long !== undefined && usage.inputTokens > price.long.above ? price.long : price;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens);
  return (fresh * input + usage.cachedTokens * cachedInput + usage.outputTokens * output) / MILLION;
}
