/**
 * A session's summary: those of its facts that lists show, small enough to be kept beside the log. It is taken from the
 * facts and counts nothing by itself. Prices are the caller's, and one may depend on the size of a single request, so it
 * says what each request used and not what it cost.
 */

import type { Usage } from "../../base/events/index.ts";
import type { SessionFacts } from "./session-facts.ts";
import { type CostOf, costOfSpent, inMicroDollars, plusCost, type Spent } from "./spent.ts";

export interface StoredSummary {
  /** How many the log has; none where a crash left it empty. */
  readonly events: number;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  /** `provider/model` of the last request. */
  readonly model?: string | undefined;
  readonly usage: Usage;
  /** Those that were begun. */
  readonly turns: number;
  readonly turnsEnded: number;
  /** The turn under way, or the one that a crash left open. */
  readonly openTurn?: string | undefined;
  /** In the order of the log: what `costOfSummary` prices. */
  readonly spent: readonly Spent[];
}

export function summaryOf(facts: SessionFacts): StoredSummary {
  const { title, cwd, model, usage, turns, turnsEnded, openTurn, spent, lastSeq } = facts;
  return {
    events: lastSeq + 1,
    title,
    cwd,
    model,
    usage,
    turns: turns.size,
    turnsEnded,
    openTurn,
    spent: [...spent],
  };
}

/** What `SessionFacts.costUsd` says of the same log. */
export function costOfSummary({ spent }: Pick<StoredSummary, "spent">, costOf: CostOf): number | undefined {
  let sum: number | undefined = 0;
  for (const one of spent) sum = plusCost(sum, costOfSpent(one, costOf));
  return inMicroDollars(sum);
}
