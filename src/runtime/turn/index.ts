/**
 * The loop.
 *
 * @module
 */

export {
  DEFAULT_LIMITS,
  type PermissionAsk,
  type PermissionDecision,
  type PermissionPolicy,
  type StepSetup,
  type TurnContext,
  type TurnLimits,
  type WireRecord,
} from "./context.ts";
export { type CompactionOutcome, type CompactionPlan, runCompaction } from "./compact.ts";
export { COMPACT_AT, contextUse } from "./context-use.ts";
export { type Correction, loosened, pathOf, sourcesAt } from "./heal.ts";
export {
  goOnAfterCrash,
  makeRoomBefore,
  type RoomOptions,
  runTurnWithRoom,
  summaryLength,
} from "./make-room.ts";
export { closeCall, closeResponses, closeTurn, findOpenTurn, openCalls, type OpenTurn } from "./recover.ts";
export { runTurn, type TurnOutcome, type TurnPlan } from "./turn.ts";
