/**
 * Who may use the server. There is one random token of 256 bits. A program sends the token itself. A browser gets
 * access through a link that works once, and then holds a cookie derived from the token. Keys are compared in constant
 * time and never logged.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { codedError } from "../../base/support/index.ts";

const MIN_TOKEN_LENGTH = 32;

export class AccessKeys {
  readonly token: string;
  readonly cookieValue: string;
  readonly #token: Buffer;
  readonly #cookie: Buffer;
  /** Codes of unused links. */
  readonly #codes: Buffer[] = [];

  constructor(token: string = randomKey()) {
    if (token.length < MIN_TOKEN_LENGTH || !/^[\w.~+/=-]+$/.test(token)) {
      throw codedError(
        "token_weak",
        `the server's token must have ${MIN_TOKEN_LENGTH} or more letters, digits or -._~+/= : create one with "openssl rand -hex 32", or omit it to get a random one`,
      );
    }
    this.token = token;
    this.#token = digest(token);
    // Not the token itself, so a leaked cookie is not a bearer token. The same after a restart with the same token.
    this.cookieValue = createHmac("sha256", token).update("throughline cookie").digest("base64url");
    this.#cookie = digest(this.cookieValue);
  }

  /** Creates a code that grants access once, to one browser or program. */
  newCode(): string {
    const code = randomKey();
    this.#codes.push(digest(code));
    if (this.#codes.length > MAX_CODES) this.#codes.shift();
    return code;
  }

  /** Returns true once for each code. */
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

/** Equal lengths for any input, so that the comparison does not reveal the length either. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
