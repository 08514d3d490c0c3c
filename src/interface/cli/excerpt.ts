/** A piece of a text around a place, cut between words. */

const BEFORE = 24;
const AFTER = 60;

export function excerptAt(text: string, at: number, length: number): string {
  const from = at <= BEFORE ? 0 : wordStart(text, at - BEFORE, at);
  const end = Math.max(at + length, at + AFTER);
  const to = end >= text.length ? text.length : wordEnd(text, end, at + length);
  return `${from === 0 ? "" : "…"}${text.slice(from, to).trim()}${to === text.length ? "" : "…"}`;
}

/** The first word that begins at or after `from`; at the latest the one that holds `limit`. */
function wordStart(text: string, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) {
    if (/\s/.test(text.charAt(at - 1)) && !/\s/.test(text.charAt(at))) return at;
  }
  return whole(text, from);
}

/** Behind the last word that ends at or before `to`, but never before `least`. */
function wordEnd(text: string, to: number, least: number): number {
  for (let at = to; at >= least; at -= 1) if (/\s/.test(text.charAt(at))) return at;
  return whole(text, to);
}

/** Never between the halves of a surrogate pair. */
function whole(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
