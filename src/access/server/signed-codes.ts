/**
 * Codes of links that whoever has the server's token can make without the server, which checks the signature. Each
 * works once, at one address, and only for a server that already ran when it was made. So a restart brings no used code
 * back, and a stranger who listens on the port of a stopped server gains nothing.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const LIFE_MS = 24 * 3_600_000;
const CODE = /^([0-9a-z]{1,10})\.([\w-]{22})\.([\w-]{43})$/;

export class SignedCodes {
  readonly #token: string;
  readonly #now: () => number;
  readonly #startedAt: number;
  /** Used codes, with the time after which none of them counts anyway. */
  readonly #used = new Map<string, number>();

  constructor(token: string, now: () => number = () => Date.now()) {
    this.#token = token;
    this.#now = now;
    this.#startedAt = now();
  }

  make(address: string): string {
    const made = `${this.#now().toString(36)}.${randomBytes(16).toString("base64url")}`;
    return `${made}.${this.#signature(made, address)}`;
  }

  /** Returns whether it is one, the first time. */
  redeem(code: string, address: string): boolean {
    const [, time = "", nonce = "", signature = ""] = CODE.exec(code) ?? [];
    const expected = Buffer.from(this.#signature(`${time}.${nonce}`, address));
    const given = Buffer.from(signature.padEnd(expected.length).slice(0, expected.length));
    if (!timingSafeEqual(given, expected)) return false;
    const madeAt = Number.parseInt(time, 36);
    const now = this.#now();
    for (const [used, until] of this.#used) if (until < now) this.#used.delete(used);
    if (madeAt < this.#startedAt || madeAt > now + LIFE_MS || madeAt < now - LIFE_MS) return false;
    if (this.#used.has(nonce)) return false;
    this.#used.set(nonce, madeAt + LIFE_MS);
    return true;
  }

  #signature(text: string, address: string): string {
    const signed = `throughline code ${text} for ${address}`;
    return createHmac("sha256", this.#token).update(signed).digest("base64url");
  }
}
