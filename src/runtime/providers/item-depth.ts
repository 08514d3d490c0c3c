/**
 * Rejects items nested deeper than any vendor's before they are stored: they would break every later recursive walk.
 */

import { codedError, jsonDepth } from "../../base/support/index.ts";

export const MAX_ITEM_DEPTH = 128;

export function assertItemDepth(text: string): void {
  if (jsonDepth(text) <= MAX_ITEM_DEPTH) return;
  throw codedError("bad_event", `an item is nested deeper than ${MAX_ITEM_DEPTH} levels`);
}
