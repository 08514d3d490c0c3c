/**
 * What tokens cost, where the price is known. No invented dollar: unknown is undefined.
 *
 * @module
 */

import type { Origin, Usage } from "../../base/events/index.ts";
import { priceOf } from "../../runtime/models/index.ts";
import { costOf as costAt } from "../../runtime/providers/index.ts";

export function costOf({ provider, model, endpoint }: Origin, usage: Usage): number | undefined {
  const price = priceOf(provider, model, endpoint);
  return price === undefined ? undefined : costAt(price, usage);
}
