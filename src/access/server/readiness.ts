/**
 * Whether this process should get requests, for a balancer. A file store is always ready. A node of a shared store is
 * not while its database is away or of another version, while it has no lease, when it is about to leave, and when its
 * event loop is so late that it would miss its lease or keep people waiting.
 */

import type { SharedStore, Unready } from "../../runtime/log/index.ts";

const LATEST_MS = 1000;
const TICK_MS = 250;
/** How long a late tick counts. */
const WINDOW_MS = 5000;

/** How late the event loop was in the last seconds. */
export class LoopDelay {
  readonly #timer: NodeJS.Timeout;
  #due = performance.now() + TICK_MS;
  #worst = 0;
  #worstUntil = 0;

  constructor() {
    this.#timer = setInterval(() => {
      this.#note();
      this.#due = performance.now() + TICK_MS;
    }, TICK_MS);
    this.#timer.unref();
  }

  /** Counts a tick that is overdue right now, too. */
  get ms(): number {
    this.#note();
    return this.#worst;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #note(): void {
    const now = performance.now();
    const late = Math.max(0, now - this.#due);
    if (late < this.#worst && now < this.#worstUntil) return;
    this.#worst = late;
    this.#worstUntil = now + WINDOW_MS;
  }
}

export class Readiness {
  readonly #shared: SharedStore | undefined;
  readonly #loop: LoopDelay;

  constructor(shared: SharedStore | undefined, loop: LoopDelay) {
    this.#shared = shared;
    this.#loop = loop;
  }

  /** One word why not, or undefined if it is ready. */
  async ask(): Promise<Unready | "busy" | undefined> {
    if (this.#shared === undefined) return undefined;
    const late = this.#loop.ms;
    const health = await this.#shared.health();
    if (!health.ready) return health.why;
    return late < LATEST_MS ? undefined : "busy";
  }
}
