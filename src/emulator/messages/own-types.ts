/**
 * Types of blocks that only this server sends: a fault's, and whatever a scenario wrote as it is. The real API takes
 * back what it sends, so these pass although nobody has documented them.
 */

import type { Engine } from "../engine.ts";

/** From the fault `unknown-item`. */
export const SURPRISE = "emulator_surprise";

export function ownTypesOf({ options }: Engine): ReadonlySet<string> {
  const drafts = options.scenario?.steps.flatMap((step) => step.output) ?? [];
  return new Set([
    SURPRISE,
    ...drafts.flatMap((draft) => (draft.type === "raw" ? [String(draft.item["type"])] : [])),
  ]);
}
