/**
 * A summary in the place of the front: when a person asks for it, when a context runs full, and after a crash over one.
 */

export { compactBeforeTurn, type CompactingOptions, runTurnCompacting } from "./compact-around-turn.ts";
export { assertKeepTurns, compactNow } from "./compact-now.ts";
export { finishCompaction } from "./finish-compaction.ts";
