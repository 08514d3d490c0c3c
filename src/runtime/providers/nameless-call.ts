/**
 * A call that came without its name: the event that had it was lost on the way. Nobody can run it, and no API takes it
 * back, so the answer it stands in counts as cut and is asked for again.
 */

import type { ItemDraft } from "./provider.ts";

export function isNameless(draft: ItemDraft): boolean {
  return draft.type === "tool_call" && draft.name === "";
}

export const NAMELESS = "a call came without the name of its tool: a part of the answer was lost";
