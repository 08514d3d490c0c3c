/**
 * A call that arrived without a name, because the event that carried it was lost. It cannot be run and no API accepts
 * it back, so the response counts as cut and is requested again.
 */

import type { ItemDraft } from "./provider.ts";

export function isNameless(draft: ItemDraft): boolean {
  return draft.type === "tool_call" && draft.name === "";
}

export const NAMELESS = "a tool call arrived without its name: part of the response was lost";
