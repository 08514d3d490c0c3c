/**
 * How many columns a text takes on a terminal, near enough to break a line or to end a column by: wide scripts and emoji
 * take two, joined ones as one, marks and styles none. (The full interface measures with its library, which is not
 * loaded for a list.)
 */

// oxlint-disable-next-line no-control-regex -- styles take no room
const STYLES = /\u001B\[[\d;]*m/g;
const PLAIN = /^[\u0020-\u007E]*$/;
const NARROW = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]|\uFE0F/u;

let segmenter: Intl.Segmenter | undefined;

/** Made for the first text that needs it: that takes longer than all else that `--version` does. */
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

/** No wider than so many columns, never cut inside of a sign; what was cut says so. For text without styles. */
export function fitted(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let used = 1; // the sign at the end
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
