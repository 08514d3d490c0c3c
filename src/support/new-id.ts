/**
 * Ids: prefix, time, randomness. Sortable by creation, unguessable (80 random bits), safe in file names and URLs.
 *
 * @module
 */

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, lower case: no i, l, o, u

export interface IdSource {
  next(prefix: string): string;
}

const TIME_LENGTH = 9;
const RANDOM_LENGTH = 16;

/** Drawn in one call for many ids of all sources: every event has one, and the call costs more than its bytes. */
const pool = new Uint8Array(4096);
let used = pool.length;

export function createIdSource(now: () => number = Date.now): IdSource {
  let time = Number.NaN;
  let timeText = "";
  return {
    next(prefix) {
      const at = now();
      if (at !== time) {
        time = at;
        timeText = inBase32(at);
      }
      if (used === pool.length) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      let random = "";
      for (const end = used + RANDOM_LENGTH; used < end; used += 1)
        random += ALPHABET[(pool[used] as number) & 31] as string;
      return `${prefix}_${timeText}${random}`;
    },
  };
}

function inBase32(time: number): string {
  let text = "";
  for (let rest = time; text.length < TIME_LENGTH; rest = Math.floor(rest / 32))
    text = ALPHABET.charAt(rest % 32) + text;
  return text;
}
