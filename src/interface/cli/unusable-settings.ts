/**
 * Finds settings whose value has the right form but names nothing that exists: a model, a provider, a profile. `config
 * set` refuses them, `doctor` reports them, and a run says which file or variable they come from.
 */

import {
  codedError,
  codeOf,
  isThroughlineError,
  messageOf,
  type ThroughlineError,
} from "../../base/support/index.ts";
import type { ConfigName, ConfigValues, LoadedConfig } from "../config/index.ts";
import { assertPostgresUrl } from "./store-flag.ts";
import { modelsOf, userProviders } from "./user-providers.ts";

export interface UnusableSetting {
  readonly name: ConfigName;
  readonly problem: ThroughlineError;
}

/** Codes of names that do not exist. Any other, such as a missing address, may be right in another environment. */
const NAMES_NOTHING: ReadonlySet<string | undefined> = new Set([
  "model_invalid",
  "profile_unknown",
  "profile_mismatch",
  "config_value_invalid",
  "store_url_invalid",
]);

/** Returns the problems of these settings. */
export function unusable(values: ConfigValues, names: readonly ConfigName[]): readonly UnusableSetting[] {
  return names.flatMap((name) => {
    try {
      use(values, name);
      return [];
    } catch (error) {
      return isThroughlineError(error) && NAMES_NOTHING.has(codeOf(error)) ? [{ name, problem: error }] : [];
    }
  });
}

function use(values: ConfigValues, name: ConfigName): void {
  if (name === "store" && values.store !== undefined) assertPostgresUrl(values.store);
  if (name === "providers" || name === "profiles") userProviders(values);
  const models = name === "model" ? [values.model] : name === "fallback" ? (values.fallback ?? []) : [];
  for (const one of models) if (one !== undefined) modelsOf(values)(one);
}

/** Names the file or the variable of a setting in an error about its value. */
export function blamed<T>(config: Pick<LoadedConfig, "settings">, name: ConfigName, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const location = config.settings.get(name)?.location ?? "";
    if (!isThroughlineError(error) || location === "") throw error;
    throw codedError(error.code, `${location}: ${name}: ${messageOf(error)}`, error);
  }
}
