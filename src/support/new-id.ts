/**
 * Ids: prefix, time, randomness. Sortable by creation, unguessable (80 random bits), safe in file names and URLs.
 *
 * @module
 */

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, lower case: no i, l, o, u

export interface IdSource {
  next(prefix: string): string;
}

export function createIdSource(now: () => number = Date.now): IdSource {
  let pool = new Uint8Array(0);
  let used = 0;
  // Random bytes are drawn in one call for many ids: an event needs one, and there are thousands in a long turn.
  const takeRandom = (count: number): Uint8Array => {
    if (used + count > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(1024));
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
  return {
    next(prefix) {
      let text = "";
      let time = now();
      for (let i = 0; i < 9; i += 1) {
        text = ALPHABET.charAt(time % 32) + text;
        time = Math.floor(time / 32);
      }
      for (const byte of takeRandom(16)) text += ALPHABET.charAt(byte & 31);
      return `${prefix}_${text}`;
    },
  };
}
