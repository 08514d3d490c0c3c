/**
 * What a turn has cost: every attempt of every request, by the price of the model it went to. Unknown as soon as one of
 * them has no price; nothing is guessed.
 *
 * @module
 */

import type { Origin, SessionEvent } from "../../base/events/index.ts";
import { priceOf } from "../../runtime/models/index.ts";
import { costOf, type Model, type Price } from "../../runtime/providers/index.ts";

/** A model, or what is told of one on a server. */
type Metered = Pick<Model, "price"> & { readonly settings: Pick<Model["settings"], "target"> };

export class CostMeter {
  readonly #model: Metered;
  readonly #origins = new Map<string, Origin>();
  #usd: number | undefined = 0;

  constructor(model: Metered) {
    this.#model = model;
    // A turn that fails before it has spent anything on a model without a price has an unknown cost all the same.
    if (this.#priceOf(model.settings.target) === undefined) this.#usd = undefined;
  }

  see(event: SessionEvent): void {
    if (event.type === "response_start") this.#origins.set(event.response, event.origin);
    if (event.type !== "response_end" || event.usage === undefined || this.#usd === undefined) return;
    const origin = event.response === undefined ? undefined : this.#origins.get(event.response);
    const price = this.#priceOf(origin ?? this.#model.settings.target);
    this.#usd = price === undefined ? undefined : this.#usd + costOf(price, event.usage);
  }

  /** Undefined: not known. */
  get usd(): number | undefined {
    // Whole micro-dollars: sums of floating point numbers end in noise.
    return this.#usd === undefined ? undefined : Math.round(this.#usd * 1e6) / 1e6;
  }

  /** The model at hand may have a price of the user's own settings. */
  #priceOf({ provider, model, endpoint }: Origin): Price | undefined {
    const own = this.#model.settings.target;
    const isOwn = own.provider === provider && own.model === model && own.endpoint === endpoint;
    return (isOwn ? this.#model.price : undefined) ?? priceOf(provider, model, endpoint);
  }
}
