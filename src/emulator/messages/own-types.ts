/**
 * Block types that only this server sends: a fault's, and raw blocks from a scenario. The real API accepts back what it
 * sends, so these pass although they are undocumented.
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
