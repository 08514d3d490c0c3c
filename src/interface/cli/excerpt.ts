/** Returns the text around a match, cut between words. */

const BEFORE = 24;
const AFTER = 60;

export function excerptAt(text: string, at: number, length: number): string {
  const from = at <= BEFORE ? 0 : wordStart(text, at - BEFORE, at);
  const end = Math.max(at + length, at + AFTER);
  const to = end >= text.length ? text.length : wordEnd(text, end, at + length);
  return `${from === 0 ? "" : "…"}${text.slice(from, to).trim()}${to === text.length ? "" : "…"}`;
}

/** The start of the first word at or after `from` and before `limit`; `from` itself if there is none. */
function wordStart(text: string, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) {
    if (/\s/.test(text.charAt(at - 1)) && !/\s/.test(text.charAt(at))) return at;
  }
  return whole(text, from);
}

/** The end of the last word at or before `to`, but never before `least`. */
function wordEnd(text: string, to: number, least: number): number {
  for (let at = to; at >= least; at -= 1) if (/\s/.test(text.charAt(at))) return at;
  return whole(text, to);
}

/** Moves an index out of the middle of a surrogate pair. */
function whole(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
