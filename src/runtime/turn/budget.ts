/**
 * `maxCostUsd`: what a turn has cost, step by step, at the price of the model each step went to. The limit is looked at
 * between requests: what a request will cost is known only when it is over.
 */

import { type ErrorInfo, NO_USAGE } from "../../base/events/index.ts";
import { costOf } from "../providers/index.ts";
import { factsOfTurn, type TurnContext } from "./context.ts";

export class Budget {
  readonly #context: TurnContext;
  /** How many requests of the turn are in `#spent`. */
  #counted = 0;
  #spent = 0;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** A model without a price cannot be held to a limit: nothing is sent to it. */
  refusal(): ErrorInfo | undefined {
    const { model } = this.#context.setup();
    if (this.#context.limits.maxCostUsd === undefined || model.price !== undefined) return undefined;
    return {
      code: "price_unknown",
      message: `the price of ${model.label} is not known, so a limit of cost cannot be held: leave it out, or give the model a price`,
    };
  }

  /** After a step: true when the limit is reached. */
  isSpent(): boolean {
    const { maxCostUsd } = this.#context.limits;
    const { price } = this.#context.setup().model;
    if (maxCostUsd === undefined || price === undefined) return false;
    const requests = factsOfTurn(this.#context).requests.slice(this.#counted);
    for (const { end } of requests) this.#spent += costOf(price, end?.usage ?? NO_USAGE);
    this.#counted += requests.length;
    return this.#spent >= maxCostUsd;
  }
}
