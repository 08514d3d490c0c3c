/** The tokens that responses used, and their cost. */

import type { Origin, SubAgentSpent, Usage } from "../../base/events/index.ts";

/** The cost of a response in dollars. Undefined if the price is not known; nothing is guessed. */
export type CostOf = (origin: Origin, usage: Usage) => number | undefined;

export interface Spent {
  /** Undefined if the log does not say which request it was. */
  readonly origin: Origin | undefined;
  readonly usage: Usage;
  /** Set for a sub-agent, whose own log has its requests. Its cost is in the log of its caller. */
  readonly subAgent?: Pick<SubAgentSpent, "session" | "costUsd"> | undefined;
}

export function costOfSpent({ origin, usage, subAgent }: Spent, costOf: CostOf): number | undefined {
  if (subAgent !== undefined) return subAgent.costUsd;
  return origin === undefined ? undefined : costOf(origin, usage);
}

/** Adds a cost. If any price is unknown, the sum is unknown too, not smaller. */
export function plusCost(sum: number | undefined, cost: number | undefined): number | undefined {
  return cost === undefined || sum === undefined ? undefined : sum + cost;
}

/** Rounds to whole micro-dollars: sums of floating-point numbers end in noise. */
export function inMicroDollars(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * 1e6) / 1e6;
}
