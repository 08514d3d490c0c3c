/**
 * Every setting: what it means, what values it takes, which variable of the environment sets it, and when a project's
 * own file needs the user's trust to set it. The validator, the JSON Schema and the documents are made from this table.
 *
 * @module
 */

import { isObject, type JsonObject } from "../../base/support/index.ts";

export type ValueKind =
  | { readonly type: "text" }
  /** A file; in a config file it is relative to that file. */
  | { readonly type: "path" }
  | { readonly type: "choice"; readonly values: readonly string[] }
  | { readonly type: "integer"; readonly least: number }
  | { readonly type: "amount" }
  | { readonly type: "switch" }
  | { readonly type: "names" }
  /** Named entries with fields of their own, checked by `check-value.ts`. */
  | { readonly type: "providers" }
  | { readonly type: "profiles" };

export interface ConfigKey {
  readonly about: string;
  readonly kind: ValueKind;
  readonly variable?: string;
  /** What holds when nobody says anything. */
  readonly usual?: unknown;
  /** May a project that is not trusted set this, over what the user has? Only what narrows, or harms nobody. */
  readonly harmless: (value: unknown, below: unknown) => boolean;
}

export const PERMISSION_CHOICES = ["deny", "read-only", "ask", "auto"] as const;
export const REASONING_CHOICES = ["auto", "full", "title", "none"] as const;
export const EFFORT_CHOICES = ["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export const DIALECTS = ["openai-responses", "openai-chat", "anthropic-messages"] as const;

const always = (): boolean => true;
const never = (): boolean => false;

/** In the order of the documents. */
export const CONFIG_KEYS = {
  model: {
    about: "provider/model[:effort], as -m takes it",
    kind: { type: "text" },
    variable: "THROUGHLINE_MODEL",
    harmless: never, // it decides where the conversation is sent, and who pays
  },
  effort: {
    about: "how hard the model thinks",
    kind: { type: "choice", values: EFFORT_CHOICES },
    variable: "THROUGHLINE_EFFORT",
    harmless: always,
  },
  permissions: {
    about: "what tools may do unasked",
    kind: { type: "choice", values: PERMISSION_CHOICES },
    variable: "THROUGHLINE_PERMISSIONS",
    usual: "ask",
    harmless: (value, below) => widthOf(value) <= widthOf(below ?? "ask"),
  },
  system: {
    about: "instructions for the model",
    kind: { type: "text" },
    variable: "THROUGHLINE_SYSTEM",
    harmless: always,
  },
  tools: {
    about: "a JavaScript module that exports tools; it is code and is run",
    kind: { type: "path" },
    variable: "THROUGHLINE_TOOLS",
    harmless: never,
  },
  allowTools: {
    about: "only these tools",
    kind: { type: "names" },
    variable: "THROUGHLINE_ALLOW_TOOLS",
    harmless: (value, below) => below === undefined || isSubset(value, below),
  },
  maxSteps: {
    about: "at most this many requests in a turn",
    kind: { type: "integer", least: 1 },
    variable: "THROUGHLINE_MAX_STEPS",
    usual: 50,
    harmless: (value, below) => Number(value) <= Number(below ?? 50),
  },
  maxCostUsd: {
    about: "a turn stops when it has cost this much",
    kind: { type: "amount" },
    variable: "THROUGHLINE_MAX_COST_USD",
    harmless: (value, below) => below === undefined || Number(value) <= Number(below),
  },
  showReasoning: {
    about: "thoughts on the screen: live title and duration, with their text, titles only, or none",
    kind: { type: "choice", values: REASONING_CHOICES },
    variable: "THROUGHLINE_SHOW_REASONING",
    usual: "auto",
    harmless: always,
  },
  projectInstructions: {
    about: "read AGENTS.md of the project",
    kind: { type: "switch" },
    variable: "THROUGHLINE_PROJECT_INSTRUCTIONS",
    usual: true,
    harmless: always,
  },
  providers: {
    about: "further endpoints, by the name that stands before the slash of a model",
    kind: { type: "providers" },
    harmless: never,
  },
  profiles: {
    about: "how endpoints depart from their dialect, by name",
    kind: { type: "profiles" },
    harmless: never,
  },
} as const satisfies Readonly<Record<string, ConfigKey>>;

export type ConfigName = keyof typeof CONFIG_KEYS;

export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(CONFIG_KEYS, name);
}

export function keyOf(name: ConfigName): ConfigKey {
  return CONFIG_KEYS[name];
}

/** USD per million tokens. */
export interface PriceConfig {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

export interface ProviderConfig {
  readonly dialect: (typeof DIALECTS)[number];
  readonly baseUrl: string;
  /** The variable of the environment that holds the key; none: the endpoint takes no key. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly profile?: string;
  readonly models?: readonly string[];
  readonly prices?: Readonly<Record<string, PriceConfig>>;
}

/** A built-in or own profile, and the fields that differ from it. */
export interface ProfileConfig extends JsonObject {
  readonly extends: string;
}

export interface ConfigValues {
  readonly model?: string;
  readonly effort?: string;
  readonly permissions?: string;
  readonly system?: string;
  readonly tools?: string;
  readonly allowTools?: readonly string[];
  readonly maxSteps?: number;
  readonly maxCostUsd?: number;
  readonly showReasoning?: (typeof REASONING_CHOICES)[number];
  readonly projectInstructions?: boolean;
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
}

function widthOf(mode: unknown): number {
  return PERMISSION_CHOICES.findIndex((one) => one === mode);
}

function isSubset(value: unknown, of: unknown): boolean {
  return Array.isArray(value) && Array.isArray(of) && value.every((one) => of.includes(one));
}

/** Entries of `providers` and `profiles` are laid over each other by name; everything else is replaced. */
export function laidOver(name: ConfigName, below: unknown, value: unknown): unknown {
  const byName = name === "providers" || name === "profiles";
  return byName && isObject(below) && isObject(value) ? { ...below, ...value } : value;
}
