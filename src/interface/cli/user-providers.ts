/**
 * Finds models by name, among the built-in providers and those in the user's settings. A provider in the settings is
 * data: dialect, base URL, the variable that holds its key, headers, and a profile, which may also be in the settings.
 */

import { codedError, didYouMean } from "../../base/support/index.ts";
import { givenPrice, modelFrom, priced, type Provider } from "../../runtime/models/index.ts";
import { type Model, type Price, PROFILES } from "../../runtime/providers/index.ts";
import type { ConfigValues, ProviderConfig } from "../config/index.ts";

type Profile = (typeof PROFILES)[string];

/** Like `modelFrom`, with the user's own providers, their prices, and the tools that providers run. */
export function modelsOf(config: ConfigValues): (name: string) => Model {
  const providers = userProviders(config);
  return (name) => {
    const model = modelFrom(name, { providers, providerTools: config.providerTools });
    const { provider, model: id } = model.settings.target;
    return Object.hasOwn(config.providers ?? {}, provider)
      ? priced(model, ownPrice(config, provider, id))
      : model;
  };
}

/** Returns the providers in the settings, in the form of the built-in ones. */
export function userProviders(config: ConfigValues): Readonly<Record<string, Provider>> {
  return Object.fromEntries(
    Object.entries(config.providers ?? {}).map(([name, own]) => [name, providerFrom(name, own, config)]),
  );
}

function providerFrom(name: string, own: ProviderConfig, config: ConfigValues): Provider {
  const { baseUrl, keyVariable, headers } = own;
  return {
    name,
    profile: profileOf(own, config, name),
    baseUrl,
    // Without a variable, the endpoint needs no key.
    ...(keyVariable === undefined ? { keyOptional: true } : { keyVariable }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** Returns a model's price from the user's settings. */
export function ownPrice(config: ConfigValues, provider: string, model: string): Price | undefined {
  const own = Object.hasOwn(config.providers ?? {}, provider) ? config.providers?.[provider] : undefined;
  const price = own?.prices?.[model];
  return price && givenPrice(price);
}

/** The default profile of each dialect: the plainest one. */
const USUAL_PROFILES: Readonly<Record<ProviderConfig["dialect"], string>> = {
  "openai-responses": "open-responses",
  "openai-chat": "openai-chat",
  "anthropic-messages": "anthropic",
};

function profileOf(own: ProviderConfig, config: ConfigValues, provider: string): Profile {
  const name = own.profile ?? USUAL_PROFILES[own.dialect];
  const profile = profileNamed(name, config);
  if (profile.dialect === own.dialect) return profile;
  throw codedError(
    "profile_mismatch",
    `providers.${provider}: the profile ${name} is for the dialect ${profile.dialect}, not ${own.dialect}`,
  );
}

/** Returns a built-in profile, or one from the settings: the profile it extends, with its own fields marked as the user's. */
export function profileNamed(name: string, config: ConfigValues, seen: readonly string[] = []): Profile {
  // A profile may extend the built-in profile of the same name; `seen` prevents an endless loop.
  const own =
    Object.hasOwn(config.profiles ?? {}, name) && !seen.includes(name) ? config.profiles?.[name] : undefined;
  if (own === undefined) return builtIn(name, config);
  const { extends: from, ...fields } = own;
  const base = profileNamed(from, config, [...seen, name]);
  for (const [field, value] of Object.entries(fields)) checkField(name, base, field, value);
  const evidence = Object.fromEntries(Object.keys(fields).map((field) => [field, "your settings"]));
  return { ...base, ...fields, name, evidence: { ...base.evidence, ...evidence } };
}

function builtIn(name: string, config: ConfigValues): Profile {
  const known = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  if (known !== undefined) return known;
  const names = [...Object.keys(PROFILES), ...Object.keys(config.profiles ?? {})];
  throw codedError(
    "profile_unknown",
    `unknown profile "${name}"; use one of ${[...new Set(names)].join(", ")}${didYouMean(name, names)}`,
  );
}

const FIXED: readonly string[] = ["name", "dialect", "evidence"];

/** Accepts a field that another profile of the dialect has, of the same kind; a text must be a value that one uses. */
function checkField(name: string, base: Profile, field: string, value: unknown): void {
  const fail = (why: string): never => {
    throw codedError("config_value_invalid", `profiles.${name}.${field}: ${why}`);
  };
  const alike = Object.values(PROFILES).filter(({ dialect }) => dialect === base.dialect);
  const fields = new Set(alike.flatMap((one) => Object.keys(one)).filter((one) => !FIXED.includes(one)));
  if (!fields.has(field)) fail(`unknown field; use one of ${[...fields].join(", ")}`);
  const said = alike.map((one) => one[field as keyof Profile] as unknown).filter((one) => one !== undefined);
  const kinds = new Set(said.map(kindOf));
  if (!kinds.has(kindOf(value))) fail(`use a ${[...kinds].join(" or a ")}`);
  if (typeof value !== "string") return;
  const words = [...new Set(said.filter((one) => typeof one === "string"))];
  if (!words.includes(value)) fail(`use one of ${words.join(", ")}`);
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Returns the header values in the settings. They may be secrets, so they are kept out of logs. */
export function headerSecrets(config: ConfigValues): readonly string[] {
  return Object.values(config.providers ?? {}).flatMap(({ headers }) => Object.values(headers ?? {}));
}
