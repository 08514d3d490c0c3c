/**
 * A turn's time is limited, whatever a provider or a tool does with it. Waiting for a person does not count.
 *
 * @module
 */

import { ThroughlineError } from "../../base/support/index.ts";
import type { TurnContext } from "./context.ts";

export class TurnDeadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #since = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #release = (): void => undefined;
  passed = false;

  constructor(limitMs: number) {
    this.#leftMs = limitMs;
    this.#run();
  }

  /** The same turn, stopped by its time as well. */
  bind(context: TurnContext): TurnContext {
    const { permissions, signal } = context;
    // By hand: AbortSignal.any costs more than all else that a turn begins with.
    const follow = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener("abort", follow, { once: true });
    this.#release = () => signal.removeEventListener("abort", follow);
    return {
      ...context,
      signal: this.#controller.signal,
      ask: (ask) => this.#paused(() => context.ask(ask)),
      permissions:
        typeof permissions === "function" ? (ask) => this.#paused(() => permissions(ask)) : permissions,
    };
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#release();
  }

  async #paused<T>(work: () => Promise<T>): Promise<T> {
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
      this.passed = true;
      this.#controller.abort(
        new ThroughlineError({ code: "turn_timeout", message: "the turn ran out of time" }),
      );
    };
    this.#timer = setTimeout(overdue, Math.min(Math.max(0, this.#leftMs), LONGEST_TIMER_MS));
  }
}

/** A longer timer of Node fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
