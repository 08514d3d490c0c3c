/**
 * Ids: prefix, time, randomness. Sortable by creation, unguessable (80 random bits), safe in file names and URLs. A
 * clock that goes back or is invalid does not affect this: the time in an id never goes back.
 */

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, lower case: no i, l, o, u

export interface IdSource {
  next(prefix: string): string;
}

const TIME_LENGTH = 9;
const RANDOM_LENGTH = 16;
/** The largest time that nine digits hold: the year 3084. */
const LAST_TIME = 32 ** TIME_LENGTH - 1;

/** Drawn in one call for many ids of all sources: every event has one, and the call costs more than its bytes. */
const pool = new Uint8Array(4096);
let used = pool.length;
const random: number[] = Array.from({ length: RANDOM_LENGTH }, () => 0);

export function createIdSource(now: () => number = Date.now): IdSource {
  let time = 0;
  let timeText = inBase32(time);
  return {
    next(prefix) {
      const at = Math.min(now(), LAST_TIME);
      if (at > time) {
        time = at;
        timeText = inBase32(at);
      }
      if (used === pool.length) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      for (let index = 0; index < RANDOM_LENGTH; index += 1)
        random[index] = ALPHABET.charCodeAt((pool[used + index] as number) & 31);
      used += RANDOM_LENGTH;
      // Built in one go: character by character, V8 keeps every intermediate string, and a long session has thousands
      // of ids.
      return `${prefix}_${timeText}${String.fromCharCode(...random)}`;
    },
  };
}

function inBase32(time: number): string {
  let text = "";
  for (let rest = time; text.length < TIME_LENGTH; rest = Math.floor(rest / 32))
    text = ALPHABET.charAt(rest % 32) + text;
  return text;
}
