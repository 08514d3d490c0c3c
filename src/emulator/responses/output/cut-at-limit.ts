/**
 * `max_output_tokens`: the answer ends where the tokens end. It keeps whole items that fit, then as much of a message
 * as fits. A thought or call that does not fit is dropped, but its tokens count.
 */

import type { Draft } from "../../output/draft.ts";
import { draftTokens } from "../../output/usage.ts";

/** Returns `undefined` if everything fits. */
export function cutAtLimit(drafts: readonly Draft[], limit: number): readonly Draft[] | undefined {
  let left = limit;
  for (const [index, draft] of drafts.entries()) {
    if (draftTokens(draft) > left) {
      const kept = drafts.slice(0, index);
      return draft.type === "message" ? [...kept, ...beginning(draft, left)] : kept;
    }
    left -= draftTokens(draft);
  }
  return undefined;
}

type Message = Extract<Draft, { type: "message" }>;

/** Binary search: trying every length would be slow for a long text. */
function beginning(draft: Message, limit: number): readonly Message[] {
  let [fits, above] = [0, draft.text.length];
  while (above - fits > 1) {
    const middle = Math.floor((fits + above) / 2);
    if (draftTokens({ ...draft, text: draft.text.slice(0, middle) }) <= limit) fits = middle;
    else above = middle;
  }
  return fits === 0 ? [] : [{ ...draft, text: draft.text.slice(0, fits) }];
}
