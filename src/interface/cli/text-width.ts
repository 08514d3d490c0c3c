/**
 * Estimates how many columns a text takes on a terminal, well enough to wrap lines and align columns. Wide characters
 * and emoji take two, joined emoji count as one, marks and styles take none. (The full interface measures with its
 * library, which is not loaded for a list.)
 */

// oxlint-disable-next-line no-control-regex -- styles take no columns
const STYLES = /\u001B\[[\d;]*m/g;
const PLAIN = /^[\u0020-\u007E]*$/;
const NARROW = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]|\uFE0F/u;

let segmenter: Intl.Segmenter | undefined;

/** Created lazily, because that takes longer than everything else in `--version`. */
function signsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

export function widthOf(text: string): number {
  const bare = text.replaceAll(STYLES, "");
  if (PLAIN.test(bare)) return bare.length;
  let columns = 0;
  for (const { segment } of signsOf(bare)) columns += widthOfSign(segment);
  return columns;
}

/** Cuts a text without styles to a width, never inside a character, and marks the cut with an ellipsis. */
export function fitted(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let used = 1; // the ellipsis
  for (const { segment } of signsOf(text)) {
    used += widthOfSign(segment);
    if (used > columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

function widthOfSign(sign: string): number {
  if (WIDE.test(sign)) return 2;
  return NARROW.test(sign) ? 0 : 1;
}
