/** What responses used, and what that costs. */

import type { Origin, Usage } from "../../base/events/index.ts";

/** What a response costs in dollars; undefined where the price is not known: nothing is guessed. */
export type CostOf = (origin: Origin, usage: Usage) => number | undefined;

export interface Spent {
  /** Undefined: the log does not say which request it was. */
  readonly origin: Origin | undefined;
  readonly usage: Usage;
}

export function costOfSpent({ origin, usage }: Spent, costOf: CostOf): number | undefined {
  return origin === undefined ? undefined : costOf(origin, usage);
}

/** Unknown, not smaller, as soon as one price is not known. */
export function plusCost(sum: number | undefined, cost: number | undefined): number | undefined {
  return cost === undefined || sum === undefined ? undefined : sum + cost;
}

/** Whole micro-dollars: sums of floating point numbers end in noise. */
export function inMicroDollars(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * 1e6) / 1e6;
}
