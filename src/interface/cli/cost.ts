/**
 * What tokens cost, where the price is known: the user's own settings say it, or the table of models. No invented
 * dollar: unknown is undefined.
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
