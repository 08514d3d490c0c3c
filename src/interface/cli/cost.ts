/**
 * The cost of tokens, by the prices in the user's settings or in the table of models. Undefined if the price is unknown:
 * a cost is never guessed.
 */

import type { CostOf } from "../../runtime/facts/index.ts";
import { priceOf } from "../../runtime/models/index.ts";
import { costOf } from "../../runtime/providers/index.ts";
import type { ConfigValues } from "../config/index.ts";
import { ownPrice } from "./user-providers.ts";

export function costsWith(config: ConfigValues): CostOf {
  return ({ provider, model, endpoint }, usage) => {
    const price = ownPrice(config, provider, model) ?? priceOf(provider, model, endpoint);
    return price === undefined ? undefined : costOf(price, usage);
  };
}
