/**
 * Models by name: the built-in providers, and those of the user's own settings. A provider of the settings is data:
 * dialect, base URL, the variable that holds its key, headers, and a profile that may be the user's own too.
 */

import { codedError } from "../../base/support/index.ts";
import { modelFrom, priced, type Provider } from "../../runtime/models/index.ts";
import { type Model, type Price, PROFILES } from "../../runtime/providers/index.ts";
import type { ConfigValues, ProviderConfig } from "../config/index.ts";

type Profile = (typeof PROFILES)[string];

/** `modelFrom`, with the user's own providers, their prices, and the tools that providers run. */
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

/** The providers of the settings, in the form of the built-in ones. */
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
    // Without a variable the endpoint takes no key: servers of that kind take anything.
    ...(keyVariable === undefined ? { keyOptional: true } : { keyVariable }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** What the user's settings say that a model costs. */
export function ownPrice(config: ConfigValues, provider: string, model: string): Price | undefined {
  const own = Object.hasOwn(config.providers ?? {}, provider) ? config.providers?.[provider] : undefined;
  const price = own?.prices?.[model];
  if (price === undefined) return undefined;
  const { input, output, cachedInput = input } = price;
  return { input, cachedInput, output, asOf: "your settings", source: "config" };
}

/** What an endpoint of a dialect is taken to be when nothing is said: the plainest profile there is. */
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
    `providers.${provider}: the profile ${name} speaks ${profile.dialect}, not ${own.dialect}`,
  );
}

/** A built-in profile, or one of the settings: what it extends, with its own fields, each marked as the user's word. */
export function profileNamed(name: string, config: ConfigValues, seen: readonly string[] = []): Profile {
  // A profile may extend the built-in one of its own name, and no more than that comes back to it.
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
    `there is no profile "${name}"; known are ${[...new Set(names)].join(", ")}`,
  );
}

const FIXED: readonly string[] = ["name", "dialect", "evidence"];

/** A field is one that some profile has, and of the same kind; a word must be one that some profile says. */
function checkField(name: string, base: Profile, field: string, value: unknown): void {
  const fail = (why: string): never => {
    throw codedError("config_value_invalid", `profiles.${name}.${field}: ${why}`);
  };
  const alike = Object.values(PROFILES).filter(({ dialect }) => dialect === base.dialect);
  const fields = new Set(alike.flatMap((one) => Object.keys(one)).filter((one) => !FIXED.includes(one)));
  if (!fields.has(field)) fail(`there is no such field; known are ${[...fields].join(", ")}`);
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

/** Values of headers a user wrote may be secrets: they never reach a log. */
export function headerSecrets(config: ConfigValues): readonly string[] {
  return Object.values(config.providers ?? {}).flatMap(({ headers }) => Object.values(headers ?? {}));
}
