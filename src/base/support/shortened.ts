/** Cuts text between graphemes, so that joined emoji, marks and Hangul syllables stay whole. */

let segmenter: Intl.Segmenter | undefined;

/** Only the start of a grapheme is looked for, so its end need not be seen. */
const AHEAD = 16;

/** Returns the longest start of whole graphemes with at most `maxLength` UTF-16 units. */
export function wholeStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Created lazily, because that takes longer than everything else in `--version`.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const at = segmenter.segment(text.slice(0, maxLength + AHEAD)).containing(maxLength)?.index ?? 0;
  // A letter with more marks than fit is cut all the same.
  return at > 0 ? text.slice(0, at) : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}

/** Returns the text, or its start and an ellipsis, in at most `maxLength` UTF-16 units. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${wholeStart(text, maxLength - 1).trimEnd()}…`;
}
