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
  /** May a project that is not trusted set this, over what the user has? Only what narrows, or harms nobody. */
  readonly harmless: (value: unknown, below: unknown) => boolean;
}

const always = (): boolean => true;
const never = (): boolean => false;

/** In the order of the documents. */
export const CONFIG_KEYS = {
  model: {
    about: "provider/model[:effort], as -m takes it",
    kind: TEXT,
    variable: "THROUGHLINE_MODEL",
    harmless: never, // it decides where the conversation is sent, and who pays
  },
  effort: {
    about: "how hard the model thinks",
    kind: choiceKind(EFFORTS),
    variable: "THROUGHLINE_EFFORT",
    harmless: always,
  },
  permissions: {
    about: "what tools may do unasked",
    kind: choiceKind(PERMISSION_MODES),
    variable: "THROUGHLINE_PERMISSIONS",
    usual: "ask",
    harmless: (value, below) => widthOf(value) <= widthOf(below ?? "ask"),
  },
  system: {
    about: "instructions for the model",
    kind: TEXT,
    variable: "THROUGHLINE_SYSTEM",
    harmless: always,
  },
  tools: {
    about: "a JavaScript module that exports tools; it is code and is run",
    kind: TEXT,
    variable: "THROUGHLINE_TOOLS",
    harmless: never,
  },
  allowTools: {
    about: "only these tools",
    kind: NAMES,
    variable: "THROUGHLINE_ALLOW_TOOLS",
    harmless: (value, below) => below === undefined || isSubset(value, below),
  },
  maxSteps: {
    about: "at most this many requests in a turn",
    kind: integerKind(1),
    variable: "THROUGHLINE_MAX_STEPS",
    usual: 50,
    harmless: (value, below) => Number(value) <= Number(below ?? 50),
  },
  maxCostUsd: {
    about: "a turn stops when it has cost this much",
    kind: POSITIVE,
    variable: "THROUGHLINE_MAX_COST_USD",
    harmless: (value, below) => below === undefined || Number(value) <= Number(below),
  },
  showReasoning: {
    about: "thoughts on the screen: live title and duration, with their text, titles only, or none",
    kind: choiceKind(SHOW_REASONING),
    variable: "THROUGHLINE_SHOW_REASONING",
    usual: "auto",
    harmless: always,
  },
  projectInstructions: {
    about: "read AGENTS.md of the project",
    kind: SWITCH,
    variable: "THROUGHLINE_PROJECT_INSTRUCTIONS",
    usual: true,
    harmless: always,
  },
  providers: {
    about: "further endpoints, by the name that stands before the slash of a model",
    kind: PROVIDER_ENTRIES,
    harmless: never,
  },
  hosted: {
    about: "tools that a provider runs, by its name: a type, or an object as its API takes it",
    kind: HOSTED_ENTRIES,
    harmless: never, // they cost, and hand the conversation to others
  },
  profiles: {
    about: "how endpoints depart from their dialect, by name",
    kind: PROFILE_ENTRIES,
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

export type ConfigValues = {
  readonly [Name in ConfigName]?: ValueOf<(typeof CONFIG_KEYS)[Name]["kind"]>;
};

function widthOf(mode: unknown): number {
  return PERMISSION_MODES.findIndex((one) => one === mode);
}

function isSubset(value: unknown, of: unknown): boolean {
  return Array.isArray(value) && Array.isArray(of) && value.every((one) => of.includes(one));
}

/** Entries of `providers`, `hosted` and `profiles` are laid over each other by name; everything else is replaced. */
export function laidOver(name: ConfigName, below: unknown, value: unknown): unknown {
  const byName = name === "providers" || name === "hosted" || name === "profiles";
  return byName && isObject(below) && isObject(value) ? { ...below, ...value } : value;
}
