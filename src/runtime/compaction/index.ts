/**
 * Replaces the front of a conversation by a summary: on request, when a context fills up, and after a crash during a
 * compaction.
 */

export { compactBeforeTurn, type CompactingOptions, runTurnCompacting } from "./compact-around-turn.ts";
export { assertKeepTurns, compactNow } from "./compact-now.ts";
export { finishCompaction } from "./finish-compaction.ts";
