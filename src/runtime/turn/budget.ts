/**
 * `maxCostUsd`: what a turn has cost, step by step, at the price of the model each step went to. The limit is looked at
 * between requests: what a request will cost is known only when it is over.
 */

import { type ErrorInfo, NO_USAGE, type Usage } from "../../base/events/index.ts";
import { costOf } from "../providers/index.ts";
import type { TurnContext } from "./context.ts";

export class Budget {
  readonly #context: TurnContext;
  readonly #usage: () => Usage;
  #counted: Usage = NO_USAGE;
  #spent = 0;

  constructor(context: TurnContext, usage: () => Usage) {
    this.#context = context;
    this.#usage = usage;
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
    const now = this.#usage();
    this.#spent += costOf(price, difference(now, this.#counted));
    this.#counted = now;
    return this.#spent >= maxCostUsd;
  }
}

function difference(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens - b.inputTokens,
    cachedTokens: a.cachedTokens - b.cachedTokens,
    outputTokens: a.outputTokens - b.outputTokens,
    reasoningTokens: a.reasoningTokens - b.reasoningTokens,
  };
}
