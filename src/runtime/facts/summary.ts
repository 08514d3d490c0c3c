/**
 * A session's summary: the facts that lists show, small enough to keep next to the log. It is taken from the facts and
 * counts nothing itself. Prices are up to the caller and may depend on the size of a single request, so the summary
 * holds what each request used, not what it cost.
 */

import type { Usage } from "../../base/events/index.ts";
import type { SessionFacts } from "./session-facts.ts";
import { type CostOf, costOfSpent, inMicroDollars, plusCost, type Spent } from "./spent.ts";

/** What lists show of a session: counts, title, folder, model and usage. */
export interface StoredSummary {
  /** The number of events in the log; 0 if a crash left it empty. */
  readonly events: number;
  readonly title?: string | undefined;
  /** The directory in which the session was started. */
  readonly cwd?: string | undefined;
  /** `provider/model` of the last request. */
  readonly model?: string | undefined;
  readonly usage: Usage;
  /** The number of turns that began. */
  readonly turns: number;
  readonly turnsEnded: number;
  /** The session whose sub-agent this one is. */
  readonly subAgentOf?: string | undefined;
  /** The running turn, or the one that a crash left open. */
  readonly openTurn?: string | undefined;
  /** What each response and sub-agent used, in log order, so that it can be priced. */
  readonly spent: readonly Spent[];
}

export function summaryOf(facts: SessionFacts): StoredSummary {
  const { title, cwd, model, usage, turns, turnsEnded, openTurn, spent, lastSeq, parent } = facts;
  return {
    events: lastSeq + 1,
    title,
    cwd,
    model,
    usage,
    turns: turns.size,
    turnsEnded,
    subAgentOf: parent?.call === undefined ? undefined : parent.session,
    openTurn,
    spent: [...spent],
  };
}

/** The same value as `SessionFacts.costUsd` of the same log. */
export function costOfSummary({ spent }: Pick<StoredSummary, "spent">, costOf: CostOf): number | undefined {
  let sum: number | undefined = 0;
  for (const one of spent) sum = plusCost(sum, costOfSpent(one, costOf));
  return inMicroDollars(sum);
}
