/**
 * The terminal event lists the items again. Usually it adds nothing, and on some servers it lists none (failures.md R04).
 * It counts for an item that never got its `done`, and for a payload that only it delivered (Azure).
 */

import type { LateItem } from "../../../base/events/index.ts";
import { sliceArray, sliceMember, stringValue, toRawJson } from "../../../base/support/index.ts";
import type { ItemDraft } from "../provider.ts";
import { isPayload } from "./item-draft.ts";

export interface Added {
  readonly late: readonly LateItem[];
  /** Items that were never finished, with their places in the list. */
  readonly missing: readonly { readonly position: number; readonly item: string }[];
}

/** `finished` in the order of their indexes; `count`: how many the event lists; `response`: the text it stands in. */
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
  // Where ids rotate, or there are none, none of the list is known: then its place says which item it is (I08).
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
