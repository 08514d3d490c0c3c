/**
 * A turn's time is limited, whatever a provider or a tool does with it. Waiting for a person does not count.
 *
 * @module
 */

import { ThroughlineError } from "../support/index.ts";
import type { TurnContext } from "./context.ts";

export class TurnDeadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #since = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#leftMs = limitMs;
    this.#run();
  }

  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The same turn, stopped by its time as well. */
  bind(context: TurnContext): TurnContext {
    const { permissions } = context;
    return {
      ...context,
      signal: AbortSignal.any([context.signal, this.#controller.signal]),
      ask: (ask) => this.#paused(() => context.ask(ask)),
      permissions:
        typeof permissions === "function" ? (ask) => this.#paused(() => permissions(ask)) : permissions,
    };
  }

  stop(): void {
    clearTimeout(this.#timer);
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
    this.#timer = setTimeout(
      () =>
        this.#controller.abort(
          new ThroughlineError({ code: "turn_timeout", message: "the turn ran out of time" }),
        ),
      Math.min(Math.max(0, this.#leftMs), LONGEST_TIMER_MS),
    );
  }
}

/** A longer timer of Node fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
