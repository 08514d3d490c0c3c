/** Finds the model that a mistyped name most likely means. */

import { closestTo } from "../../base/support/index.ts";
import { EMULATED_MODELS } from "./emulator.ts";
import { pricedModels } from "./prices.ts";

const EMULATOR = "emulator";

/** The known models of a provider. Others exist, too. */
export function knownModels(provider: string): readonly string[] {
  return provider === EMULATOR ? EMULATED_MODELS : pricedModels(provider);
}

/** Returns `provider/model` as it may have been meant; undefined if nothing known is close, or the name is known. */
export function meantModel(name: string, providers: readonly string[]): string | undefined {
  const slash = name.indexOf("/");
  const all = [EMULATOR, ...providers];
  if (slash === -1) return alone(name, all);
  const [typed, model] = [name.slice(0, slash), name.slice(slash + 1)];
  const provider = all.includes(typed) ? typed : closestTo(typed, all);
  if (provider === undefined) return undefined;
  const known = knownModels(provider);
  const meant = known.includes(model) ? model : (closestTo(model, known) ?? model);
  const said = `${provider}/${meant}`;
  return said === name || meant === "" ? undefined : said;
}

/** A model without its provider. */
function alone(name: string, providers: readonly string[]): string | undefined {
  const provider = providers.find((one) => knownModels(one).includes(name));
  if (provider !== undefined) return `${provider}/${name}`;
  const model = closestTo(
    name,
    providers.flatMap((one) => knownModels(one)),
  );
  return model === undefined ? undefined : alone(model, providers);
}
