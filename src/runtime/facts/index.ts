/** log → facts: title, folder, settings, usage, cost, turns and requests of a session, counted in one place. Pure. */

export { leftBehind } from "./left-behind.ts";
export type { RequestFacts, ToolFacts, Wait } from "./request-facts.ts";
export { factsOf, SessionFacts } from "./session-facts.ts";
export type { CostOf, Spent } from "./spent.ts";
export { costOfSummary, type StoredSummary, summaryOf } from "./summary.ts";
export { TurnFacts } from "./turn-facts.ts";
