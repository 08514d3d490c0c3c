/**
 * Replaces the front of a conversation by a summary: on request, when a context fills up, and after a crash during a
 * compaction.
 */

export {
  compactAgainAndGoOn,
  compactBeforeTurn,
  type CompactingOptions,
  runTurnCompacting,
} from "./compact-around-turn.ts";
export { assertKeepTurns, compactNow } from "./compact-now.ts";
export { turnThatRanFull } from "./turn-that-ran-full.ts";
