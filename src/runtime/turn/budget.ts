/**
 * Enforces `maxCostUsd`. Adds up the cost of a turn, step by step, at the price of the model each step used. The limit
 * is checked between requests, because the cost of a request is known only when it has ended.
 */

import { type ErrorInfo, NO_USAGE } from "../../base/events/index.ts";
import { costOf } from "../providers/index.ts";
import { factsOfTurn, type TurnContext } from "./context.ts";

export class Budget {
  readonly #context: TurnContext;
  /** How many requests of the turn are already in `#spent`. */
  #counted = 0;
  #spent = 0;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** Without a price the limit cannot be enforced, so nothing is sent. */
  refusal(): ErrorInfo | undefined {
    const { model } = this.#context.setup();
    if (this.#context.limits.maxCostUsd === undefined || model.price !== undefined) return undefined;
    return {
      code: "price_unknown",
      message: `the price of ${model.label} is not known, so maxCostUsd cannot be enforced. Omit the limit, or give the model a price`,
    };
  }

  /** Called after a step. True if the limit is reached. */
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
