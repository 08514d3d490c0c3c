/**
 * What a model's tokens cost, and what a response cost. Pure; the figures themselves are in src/runtime/models/prices.ts.
 */

import type { Usage } from "../../base/events/index.ts";

interface Rates {
  /** USD per million tokens. */
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

export interface Price extends Rates {
  /** From this many input tokens of one request on, all of it costs more. */
  readonly long?: (Rates & { readonly above: number }) | undefined;
  /** The day the figures were read. */
  readonly asOf: string;
  readonly source: string;
}

const MILLION = 1_000_000;

/** Input tokens include the cached ones, output tokens the reasoning. Writing to a cache counts as plain input. */
export function costOf(price: Price, usage: Usage): number {
  const { input, cachedInput, output } =
    price.long !== undefined && usage.inputTokens > price.long.above ? price.long : price;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens);
  return (fresh * input + usage.cachedTokens * cachedInput + usage.outputTokens * output) / MILLION;
}
