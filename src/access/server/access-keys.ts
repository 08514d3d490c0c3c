/**
 * Who may talk to the server. One random token of 256 bits; a browser gets in by a link that works once and then holds a
 * cookie made from the token, a program sends the token itself. Compared in constant time, never written to a log.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { codedError } from "../../base/support/index.ts";

const MIN_TOKEN_LENGTH = 32;

export class AccessKeys {
  readonly token: string;
  readonly cookieValue: string;
  readonly #token: Buffer;
  readonly #cookie: Buffer;
  /** Codes of links that were not used yet. */
  readonly #codes: Buffer[] = [];

  constructor(token: string = randomKey()) {
    if (token.length < MIN_TOKEN_LENGTH || !/^[\w.~+/=-]+$/.test(token)) {
      throw codedError(
        "token_weak",
        `the server's token must have ${MIN_TOKEN_LENGTH} or more letters, digits or -._~+/= : make one with "openssl rand -hex 32", or leave it out for a random one`,
      );
    }
    this.token = token;
    this.#token = digest(token);
    // Not the token: whoever reads a cookie store has no bearer token. The same after a restart with the same token.
    this.cookieValue = createHmac("sha256", token).update("throughline cookie").digest("base64url");
    this.#cookie = digest(this.cookieValue);
  }

  /** A code that lets one browser, or one program, in once. */
  newCode(): string {
    const code = randomKey();
    this.#codes.push(digest(code));
    if (this.#codes.length > MAX_CODES) this.#codes.shift();
    return code;
  }

  /** True once for each code. */
  redeem(code: string): boolean {
    const given = digest(code);
    let at = -1;
    for (const [index, known] of this.#codes.entries()) if (timingSafeEqual(known, given)) at = index;
    if (at === -1) return false;
    this.#codes.splice(at, 1);
    return true;
  }

  isToken(given: string): boolean {
    return timingSafeEqual(this.#token, digest(given));
  }

  isCookie(given: string): boolean {
    return timingSafeEqual(this.#cookie, digest(given));
  }
}

const MAX_CODES = 64;

function randomKey(): string {
  return randomBytes(32).toString("base64url");
}

/** Equal lengths for any input, so that comparing tells nothing about the length either. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
