/** The JSON of a request, for every dialect. */

import { jsonDepth, tryParseJson } from "../base/support/index.ts";

/** Deeper JSON than any client sends; recursion further down relies on it. */
const maxDepth = 256;

/** `undefined`: not JSON. */
export function bodyOf(text: string): unknown {
  return text.trim() === "" || jsonDepth(text) > maxDepth ? undefined : tryParseJson(text);
}
