/** A message that waits for its turn, as lists show it. */

import { type InputPart, typedText } from "../events/index.ts";

/** A message that was accepted and is not in the log yet. */
export interface QueuedTurn {
  /** The id of its turn. */
  readonly turn: string;
  /** What the person typed, cut to 300 characters. The last one is then "…". */
  readonly text: string;
  /** Set if the message joins the running turn before its next request. */
  readonly steers?: true | undefined;
  /** How many images it has. Absent if it has none. */
  readonly images?: number | undefined;
}

const MAX_TEXT = 300;

export function queuedTurn(turn: string, input: string | readonly InputPart[], steers: boolean): QueuedTurn {
  const text = cutText(typeof input === "string" ? input : typedText(input));
  const images = typeof input === "string" ? 0 : input.filter(({ type }) => type === "image").length;
  return { turn, text, ...(steers ? { steers } : {}), ...(images === 0 ? {} : { images }) };
}

/** Cuts between two characters as people see them, so that an emoji with joiners stays whole. */
function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text.toWellFormed();
  const room = MAX_TEXT - 1;
  let end = 0;
  // One character may have any length, so the segments are looked for a little beyond the room.
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, 2 * MAX_TEXT))) {
    if (index + segment.length > room) break;
    end = index + segment.length;
  }
  return `${text.slice(0, end === 0 ? room : end).toWellFormed()}…`;
}
