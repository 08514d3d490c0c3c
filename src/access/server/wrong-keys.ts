/**
 * Counts wrong keys. A right key always works: 256 bits cannot be guessed, and a lockout would let strangers keep the
 * owner out. But a client that tries many is refused, and the server's terminal says so.
 */

import type { Clock } from "../../base/support/index.ts";

const MINUTE = 60_000;

export class WrongKeys {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #report: (message: string) => void;
  #since: number;
  #count = 0;

  constructor(clock: Clock, most: number, report: (message: string) => void) {
    this.#clock = clock;
    this.#most = most;
    this.#report = report;
    this.#since = clock.monotonic();
  }

  /** Counts one wrong key. Returns the seconds to wait if there were too many. */
  add(): number | undefined {
    const now = this.#clock.monotonic();
    if (now - this.#since >= MINUTE) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count <= this.#most) return undefined;
    if (this.#count === this.#most + 1)
      this.#report(
        `more than ${this.#most} requests with a wrong token or link in a minute: someone is guessing keys. None of these requests was accepted`,
      );
    return Math.max(1, Math.ceil((this.#since + MINUTE - now) / 1000));
  }
}
