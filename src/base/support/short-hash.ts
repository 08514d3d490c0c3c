/** A short name for a long one: letters and digits, always the same, in any runtime. Not for secrets. */

const PRIME = 0x01000193;

/** FNV-1a, twice with different start values: 64 bits, in the requested number of characters (at most 12). */
export function shortHash(text: string, length: number): string {
  const bits = (BigInt(fnv(text, 0x811c9dc5)) << 32n) | BigInt(fnv(text, 0x9e3779b9));
  return bits.toString(36).padStart(13, "0").slice(-Math.min(length, 12));
}

/** The same as hexadecimal digits, any number of them, for formats whose ids consist of them. */
export function hexHash(text: string, digits: number): string {
  let hex = "";
  for (let start = 0x811c9dc5; hex.length < digits; start = (start + 0x9e3779b9) >>> 0)
    hex += fnv(text, start).toString(16).padStart(8, "0");
  return hex.slice(0, digits);
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  }
  // Makes the last characters count as much as the first.
  return (hash ^ (hash >>> 15)) >>> 0;
}
