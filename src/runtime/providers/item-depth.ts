/** Deeper nesting than any vendor uses breaks every recursive walk later on: refused before it is stored. */

import { codedError, jsonDepth } from "../../base/support/index.ts";

export const MAX_ITEM_DEPTH = 128;

export function assertItemDepth(text: string): void {
  if (jsonDepth(text) <= MAX_ITEM_DEPTH) return;
  throw codedError("bad_event", `an item nests deeper than ${MAX_ITEM_DEPTH} levels`);
}
