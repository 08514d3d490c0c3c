/**
 * The vocabulary: pure, runs anywhere.
 *
 * @module
 */

export * from "./canonical.ts";
export { type EphemeralEvent, isEphemeral, type SessionEvent } from "./ephemeral.ts";
export { parseLine, toLine, toOpenLine } from "./line.ts";
export { type Dialect, type Origin, originDifference, sameOrigin } from "./origin.ts";
export { type PartTitle, readPartTitle } from "./reasoning-title.ts";
export type { Capabilities, Profile, ReplayPolicy, Settings, ToolSpec } from "./settings.ts";
