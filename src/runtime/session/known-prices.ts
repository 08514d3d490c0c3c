/**
 * The cost of a session's requests, past ones too, by who answered them: at the price of a model that this session has
 * used, of the model that `modelFrom` returns for its name, or of the table. Nothing is guessed: another endpoint may
 * charge differently.
 */

import type { Origin } from "../../base/events/index.ts";
import type { CostOf } from "../facts/index.ts";
import { priceOf } from "../models/index.ts";
import { costOf, type Model, type Price } from "../providers/index.ts";
import type { AgentOptions } from "./types.ts";

export function knownPrices(
  models: ReadonlySet<Model>,
  { modelFrom }: Pick<AgentOptions, "modelFrom">,
): CostOf {
  const named = new Map<string, Model | undefined>();
  const byName = (name: string): readonly Model[] => {
    if (!named.has(name)) named.set(name, tryModel(modelFrom, name));
    const model = named.get(name);
    return model === undefined ? [] : [model];
  };
  return (origin, usage) => {
    const { provider, model, endpoint } = origin;
    const price =
      priceAmong(models, origin) ??
      priceAmong(byName(`${provider}/${model}`), origin) ??
      priceOf(provider, model, endpoint);
    return price === undefined ? undefined : costOf(price, usage);
  };
}

function priceAmong(models: Iterable<Model>, { provider, model, endpoint }: Origin): Price | undefined {
  for (const { settings, price } of models) {
    const { target } = settings;
    const same = target.provider === provider && target.model === model && target.endpoint === endpoint;
    if (same && price !== undefined) return price;
  }
  return undefined;
}

/** A name that means nothing here has no price. */
function tryModel(modelFrom: AgentOptions["modelFrom"], name: string): Model | undefined {
  try {
    return modelFrom?.(name);
  } catch {
    return undefined;
  }
}
