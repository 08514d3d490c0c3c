/**
 * Every setting: what it means, what values it takes, which variable of the environment sets it, and when a project's
 * own file needs the user's trust to set it. The validator, the JSON Schema and the documents are made from this table.
 */

import { EFFORTS, PERMISSION_MODES, SHOW_REASONING } from "../../base/events/index.ts";
import { isObject } from "../../base/support/index.ts";
import { HOSTED_ENTRIES, PROFILE_ENTRIES, PROVIDER_ENTRIES } from "./provider-kinds.ts";
import {
  choiceKind,
  integerKind,
  type Kind,
  NAMES,
  POSITIVE,
  SWITCH,
  TEXT,
  type ValueOf,
} from "./value-kinds.ts";

export interface ConfigKey {
  readonly about: string;
  readonly kind: Kind<unknown>;
  readonly variable?: string;
  /** What holds when nobody says anything. */
  readonly usual?: unknown;
  /** What a project that is not trusted may do with this key. */
  readonly untrusted: Untrusted;
}

/** Nothing; or set it to a value that allows no more than what holds already (undefined: the user chose nothing). */
export type Untrusted = "nothing" | ((value: unknown, below: unknown) => boolean);

/** From the least that is shown to the most. */
const SHOWN = ["none", "title", "auto", "full"] as const satisfies readonly (typeof SHOW_REASONING)[number][];

/** In the order of the documents. */
export const CONFIG_KEYS = {
  model: {
    about: "provider/model[:effort], as -m takes it",
    kind: TEXT,
    variable: "THROUGHLINE_MODEL",
    untrusted: "nothing", // it decides where the conversation is sent, and who pays
  },
  effort: {
    about: "how hard the model thinks",
    kind: choiceKind(EFFORTS),
    variable: "THROUGHLINE_EFFORT",
    // More effort costs more. What a model does unasked is not known here, so nothing counts as less than that.
    untrusted: (value, below) => below !== undefined && rankIn(EFFORTS, value) <= rankIn(EFFORTS, below),
  },
  permissions: {
    about: "what tools may do unasked",
    kind: choiceKind(PERMISSION_MODES),
    variable: "THROUGHLINE_PERMISSIONS",
    usual: "ask",
    untrusted: (value, below) => rankIn(PERMISSION_MODES, value) <= rankIn(PERMISSION_MODES, below ?? "ask"),
  },
  system: {
    about: "instructions for the model",
    kind: TEXT,
    variable: "THROUGHLINE_SYSTEM",
    // It would replace the user's own instructions, and reach the model where AGENTS.md is switched off.
    untrusted: "nothing",
  },
  tools: {
    about: "a JavaScript module that exports tools; it is code and is run",
    kind: TEXT,
    variable: "THROUGHLINE_TOOLS",
    untrusted: "nothing",
  },
  allowTools: {
    about: "only these tools",
    kind: NAMES,
    variable: "THROUGHLINE_ALLOW_TOOLS",
    untrusted: (value, below) => below === undefined || isSubset(value, below),
  },
  maxSteps: {
    about: "at most this many requests in a turn",
    kind: integerKind(1),
    variable: "THROUGHLINE_MAX_STEPS",
    usual: 50,
    untrusted: (value, below) => Number(value) <= Number(below ?? 50),
  },
  maxCostUsd: {
    about: "a turn stops when it has cost this much",
    kind: POSITIVE,
    variable: "THROUGHLINE_MAX_COST_USD",
    untrusted: (value, below) => below === undefined || Number(value) <= Number(below),
  },
  showReasoning: {
    about: "thoughts on the screen: live title and duration, with their text, titles only, or none",
    kind: choiceKind(SHOW_REASONING),
    variable: "THROUGHLINE_SHOW_REASONING",
    usual: "auto",
    untrusted: (value, below) => rankIn(SHOWN, value) <= rankIn(SHOWN, below ?? "auto"),
  },
  projectInstructions: {
    about: "read AGENTS.md of the project",
    kind: SWITCH,
    variable: "THROUGHLINE_PROJECT_INSTRUCTIONS",
    usual: true,
    untrusted: (value, below) => value === false || below !== false,
  },
  providers: {
    about: "further endpoints, by the name that stands before the slash of a model",
    kind: PROVIDER_ENTRIES,
    untrusted: "nothing",
  },
  providerTools: {
    about: "tools that a provider runs, by its name: a type, or an object as its API takes it",
    kind: HOSTED_ENTRIES,
    untrusted: "nothing", // they cost, and hand the conversation to others
  },
  profiles: {
    about: "how endpoints depart from their dialect, by name",
    kind: PROFILE_ENTRIES,
    untrusted: "nothing",
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

export type ConfigValues = {
  readonly [Name in ConfigName]?: ValueOf<(typeof CONFIG_KEYS)[Name]["kind"]>;
};

/** May a project that is not trusted set this value over what holds already? */
export function mayUntrusted(name: ConfigName, value: unknown, below: unknown): boolean {
  const { untrusted } = keyOf(name);
  return untrusted !== "nothing" && untrusted(value, below);
}

function rankIn(order: readonly string[], value: unknown): number {
  return order.findIndex((one) => one === value);
}

function isSubset(value: unknown, of: unknown): boolean {
  return Array.isArray(value) && Array.isArray(of) && value.every((one) => of.includes(one));
}

/** Entries of `providers`, `providerTools` and `profiles` are laid over each other by name; everything else is replaced. */
export function laidOver(name: ConfigName, below: unknown, value: unknown): unknown {
  const byName = name === "providers" || name === "providerTools" || name === "profiles";
  return byName && isObject(below) && isObject(value) ? { ...below, ...value } : value;
}
