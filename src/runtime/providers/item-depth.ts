/**
 * Deeper nesting than any vendor uses breaks every recursive walk later on: refused before it is stored.
 *
 * @module
 */

import { jsonDepth, ThroughlineError } from "../../base/support/index.ts";

export const MAX_ITEM_DEPTH = 128;

export function assertItemDepth(text: string): void {
  if (jsonDepth(text) <= MAX_ITEM_DEPTH) return;
  throw new ThroughlineError({
    code: "bad_event",
    message: `an item nests deeper than ${MAX_ITEM_DEPTH} levels`,
  });
}
