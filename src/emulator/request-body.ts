/** Parses the JSON of a request, for every dialect. */

import { jsonDepth, tryParseJson } from "../base/support/index.ts";

/** Deeper than any client sends; later recursion relies on this limit. */
const maxDepth = 256;

/** Returns `undefined` if the text is not JSON. */
export function bodyOf(text: string): unknown {
  return text.trim() === "" || jsonDepth(text) > maxDepth ? undefined : tryParseJson(text);
}
