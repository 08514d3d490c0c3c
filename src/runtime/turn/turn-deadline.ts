/** Limits the time of a turn, whatever a provider or tool does. Waiting for a person does not count. */

import { codedError, onAbort } from "../../base/support/index.ts";

export class TurnDeadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#outer.reason);
  readonly #forget: () => void;
  #leftMs: number;
  #since = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #passed = false;

  constructor(limitMs: number, outer: AbortSignal) {
    this.#leftMs = limitMs;
    this.#outer = outer;
    // Linked by hand: AbortSignal.any costs more than everything else a turn starts with.
    if (outer.aborted) this.#follow();
    this.#forget = onAbort(outer, this.#follow);
    this.#run();
  }

  /** Aborted by the time limit or by the caller that began the turn. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time limit alone ended the turn. */
  get ranOut(): boolean {
    return this.#passed && !this.#outer.aborted;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }

  /** Suspends the time limit while `work` waits for a person. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting === 0) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#since;
    }
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#run();
    }
  }

  #run(): void {
    this.#since = performance.now();
    const overdue = (): void => {
      this.#passed = true;
      this.#controller.abort(codedError("turn_timeout", "the turn ran out of time"));
    };
    this.#timer = setTimeout(overdue, Math.min(Math.max(0, this.#leftMs), LONGEST_TIMER_MS));
  }
}

/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
