/**
 * Where the front of a conversation may be cut: before a message or before a whole group. So a call is never separated
 * from its result, nor a thought from the item after it (failures.md H01). Pure.
 */

import type { Entry } from "./entries.ts";

/** The seq at which an entry begins, as in `compaction.before`. */
export function startOf(entry: Entry): number {
  return entry.kind === "group" ? entry.start.seq : entry.event.seq;
}

/** Roughly how many characters an entry adds to a request. */
export function sizeOf(entry: Entry): number {
  if (entry.kind === "summary") return entry.event.summary.length;
  if (entry.kind === "user")
    return entry.event.content.reduce(
      (sum, part) =>
        sum + ("text" in part ? part.text.length : "data" in part ? part.data.length : BLOB_SIZE),
      0,
    );
  if (entry.superseded || entry.end === undefined) return 0;
  if (entry.end.status !== "completed" && entry.end.status !== "incomplete") return 0;
  return entry.items.reduce((sum, item) => {
    const result = item.type === "tool_call" ? entry.resultOf(item.callId) : undefined;
    const images = (result?.parts ?? []).length * BLOB_SIZE;
    return sum + item.item.length + (result?.text.length ?? 0) + images;
  }, 0);
}

/** The size of a picture in bytes says nothing about its cost. */
const BLOB_SIZE = 6000;

/**
 * The first entry to keep, so that those kept have at most `size`. The length of the list if not even the last fits.
 */
export function keepNewest(entries: readonly Entry[], size: number): number {
  let sum = 0;
  let first = entries.length;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || entry.kind === "summary") break;
    sum += sizeOf(entry);
    if (sum > size) break;
    first = index;
  }
  return first;
}
