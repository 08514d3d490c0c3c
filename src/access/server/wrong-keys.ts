/**
 * Keys that were wrong. A right one always opens: 256 bits are guessed by nobody, and a lock that strangers can close
 * would keep the owner out. But who tries many is refused without ceremony, and the server's terminal says so.
 */

import type { Clock } from "../../base/support/index.ts";

const MINUTE = 60_000;

export class WrongKeys {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #tell: (message: string) => void;
  #since: number;
  #count = 0;

  constructor(clock: Clock, most: number, tell: (message: string) => void) {
    this.#clock = clock;
    this.#most = most;
    this.#tell = tell;
    this.#since = clock.monotonic();
  }

  /** Counts one more; the seconds to wait when there were too many of them. */
  add(): number | undefined {
    const now = this.#clock.monotonic();
    if (now - this.#since >= MINUTE) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count <= this.#most) return undefined;
    if (this.#count === this.#most + 1)
      this.#tell(
        `more than ${this.#most} requests with a wrong token or link in a minute: somebody is trying keys. Nobody got in by one`,
      );
    return Math.max(1, Math.ceil((this.#since + MINUTE - now) / 1000));
  }
}
