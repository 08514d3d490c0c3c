/** The loop. */

export { Budget } from "./budget.ts";
export { scopeOf } from "./call-scope.ts";
export {
  DEFAULT_LIMITS,
  type PermissionAsk,
  type PermissionDecision,
  type PermissionPolicy,
  type PersonsAnswer,
  type PersonsElicitationAnswer,
  type StepSetup,
  type SettledTools,
  type TurnContext,
  type TurnLimits,
  type WireRecord,
  factsOfTurn,
} from "./context.ts";
export { COMPACT_AT, contextUse, isFull } from "./context-use.ts";
export { type Correction, loosened, sourcesAt } from "./corrections.ts";
export { ELICITATION_REFUSED, notPending } from "./elicit.ts";
export { pathOf } from "./heal.ts";
export { LiveLog } from "./live-log.ts";
export { closeCall, closeResponses, closeTurn, endsWithItsTurn, findOpenTurn } from "./recover.ts";
export type { ArgumentsToRepair, RepairArguments } from "./repair-arguments.ts";
export { resumePlan } from "./resume.ts";
export { runStep } from "./step.ts";
export { TurnDeadline } from "./turn-deadline.ts";
export {
  runTurn,
  SESSION_CLOSED,
  SESSION_HANDED_OVER,
  stoppedBy,
  TURN_CANCELLED,
  type TurnOutcome,
  type TurnPlan,
} from "./turn.ts";
