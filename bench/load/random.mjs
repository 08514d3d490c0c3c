/**
 * A seeded source of numbers and words. Every process generates the same load, so that the server's bytes and the expected
 * totals come from the same numbers.
 *
 * @module
 */

const WORDS =
  " the, of, and, to, in, is, that, for, it, as, was, with, be, by, on, not, he, this, are, or, his, from, at, which, but, have, an, had, they, you, were, their, one, all, we, can, her, has, there, been, if, more, when, will, would, who, so, no, step, file, value, result, check, because, therefore, function, return, number, again, before, after, between"
    .split(",")
    .map((word) => ` ${word.trim()}`);
const ODD = [" –", " naïve", " “so”", ".\n\n", "**", " 12", " é"];
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export class Random {
  #state;

  constructor(seed) {
    this.#state = seed;
  }

  /** A number below `limit`. Mulberry32 is small and good enough for a load. */
  next(limit) {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  /** A word about as long as a token. */
  word() {
    return this.next(25) === 0 ? ODD[this.next(ODD.length)] : WORDS[this.next(WORDS.length)];
  }

  asciiWord() {
    return WORDS[this.next(WORDS.length)];
  }

  words(count) {
    return Array.from({ length: count }, () => this.word());
  }

  base64(length) {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 1) bytes[at] = BASE64.charCodeAt(this.next(64));
    return bytes.toString("latin1");
  }

  hex(length) {
    return Array.from({ length }, () => this.next(16).toString(16)).join("");
  }
}
