/**
 * What the requests of a session have cost, summed up as its log grows. Unknown as soon as one of them has no price:
 * nothing is guessed.
 *
 * @module
 */

import type { LoggedEvent, Origin, Usage } from "../../base/events/index.ts";

/** The prices are the composition root's; undefined where one is not known. */
export type CostOf = (origin: Origin, usage: Usage) => number | undefined;

export class SessionCost {
  readonly #costOf: CostOf;
  readonly #origins = new Map<string, Origin>();
  #usd: number | undefined = 0;
  /** The last event that was counted. */
  lastSeq = -1;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  see(event: LoggedEvent): void {
    this.lastSeq = event.seq;
    if (event.type === "response_start") this.#origins.set(event.response, event.origin);
    if (event.type !== "response_end") return;
    const origin = this.#origins.get(event.response);
    this.#origins.delete(event.response);
    if (event.usage === undefined || this.#usd === undefined) return;
    const cost = origin === undefined ? undefined : this.#costOf(origin, event.usage);
    this.#usd = cost === undefined ? undefined : this.#usd + cost;
  }

  get usd(): number | undefined {
    // Whole micro-dollars: sums of floating point numbers end in noise.
    return this.#usd === undefined ? undefined : Math.round(this.#usd * 1e6) / 1e6;
  }
}
