/**
 * Compares the items listed in the terminal event with those received. Usually they add nothing, and some servers list
 * none (failures.md R04). The list matters for an item that never got its `done`, and for a payload that only the
 * terminal event delivered (Azure).
 */

import type { LateItem } from "../../../base/events/index.ts";
import { sliceArray, sliceMember, stringValue, toRawJson } from "../../../base/support/index.ts";
import type { ItemDraft } from "../provider.ts";
import { isPayload } from "./item-draft.ts";

export interface Added {
  readonly late: readonly LateItem[];
  /** Items that never finished, with their positions in the list. */
  readonly missing: readonly { readonly position: number; readonly item: string }[];
}

/**
 * `finished`: drafts ordered by index. `count`: the number of listed items. `response`: the text that contains the
 * list.
 */
export function compareWithTerminal(
  finished: readonly ItemDraft[],
  count: number,
  response: () => string,
): Added {
  const inOrder = count === finished.length;
  if (inOrder && !finished.some(lacksPayload)) return NOTHING;
  const output = sliceArray(sliceMember(response(), "output") ?? "[]");
  const byId = new Map(finished.map((draft) => [draft.itemId, draft]));
  const listed = output.map((text) => stringValue(sliceMember(text, "id") ?? ""));
  // If ids rotate or are missing, no listed id is known; the position then identifies the item (I08).
  const hasIds = listed.some((id) => id !== undefined && byId.has(id));
  const late: LateItem[] = [];
  const missing: { position: number; item: string }[] = [];
  for (const [position, item] of output.entries()) {
    const match = inOrder
      ? finished[position]
      : hasIds
        ? byId.get(listed[position])
        : finished.find(({ outputIndex }) => outputIndex === position);
    if (match === undefined) missing.push({ position, item });
    else if (lacksPayload(match) && isPayload(sliceMember(item, "encrypted_content")))
      late.push({ outputIndex: match.outputIndex, item: toRawJson(item) });
  }
  return { late, missing };
}

const NOTHING: Added = { late: [], missing: [] };

function lacksPayload(draft: ItemDraft): boolean {
  return draft.type === "reasoning" && !draft.opaque;
}
