/**
 * Every setting: its meaning, its values, its environment variable, and when a project's own file needs the user's trust
 * to set it. The validator, the JSON Schema and the documents are derived from this table.
 */

import { EFFORTS, PERMISSION_MODES, SHOW_REASONING } from "../../base/events/index.ts";
import { closestTo, isObject, meantOption } from "../../base/support/index.ts";
import { MCP_SERVERS } from "./mcp-file.ts";
import { HOSTED_ENTRIES, PROFILE_ENTRIES, PROVIDER_ENTRIES } from "./provider-kinds.ts";
import { PROXY_SETTINGS } from "./proxy-kinds.ts";
import {
  choiceKind,
  integerKind,
  type Kind,
  NAMES,
  POSITIVE,
  RULES,
  SWITCH,
  TEXT,
  type ValueOf,
} from "./value-kinds.ts";

export interface ConfigKey {
  readonly about: string;
  readonly kind: Kind<unknown>;
  readonly variable?: string;
  /** The default. */
  readonly usual?: unknown;
  /** What an untrusted project may do with this key. */
  readonly untrusted: Untrusted;
  /** True if no project may set it, not even a trusted one. */
  readonly userOnly?: boolean;
  /** True if its value may hold a password, so no command shows it. */
  readonly secret?: boolean;
}

/** Nothing, or set it to a value that allows no more than `below`, the value in force (undefined if the user set none). */
export type Untrusted = "nothing" | ((value: unknown, below: unknown) => boolean);

/** Ordered from the least shown to the most. */
const SHOWN = ["none", "title", "auto", "full"] as const satisfies readonly (typeof SHOW_REASONING)[number][];

/** In the order of docs/cli.md. */
export const CONFIG_KEYS = {
  model: {
    about: "the model, as provider/model[:effort]",
    kind: TEXT,
    variable: "THROUGHLINE_MODEL",
    untrusted: "nothing", // it decides where the conversation goes and who pays
  },
  effort: {
    about: "the model's reasoning effort",
    kind: choiceKind(EFFORTS),
    variable: "THROUGHLINE_EFFORT",
    // More effort costs more. The model's default effort is unknown here, so no effort counts as less than the default.
    untrusted: (value, below) => below !== undefined && rankIn(EFFORTS, value) <= rankIn(EFFORTS, below),
  },
  fallback: {
    about: "models that continue a turn, in this order, if the model is down, out of quota or rate-limited",
    kind: NAMES,
    variable: "THROUGHLINE_FALLBACK",
    untrusted: "nothing", // like model: it decides where the conversation goes and who pays
  },
  permissions: {
    about: "what tools may do without asking",
    kind: choiceKind(PERMISSION_MODES),
    variable: "THROUGHLINE_PERMISSIONS",
    usual: "ask",
    untrusted: (value, below) => rankIn(PERMISSION_MODES, value) <= rankIn(PERMISSION_MODES, below ?? "ask"),
  },
  system: {
    about: "instructions for the model",
    kind: TEXT,
    variable: "THROUGHLINE_SYSTEM",
    // It would replace the user's own instructions, and reach the model even if AGENTS.md is switched off.
    untrusted: "nothing",
  },
  tools: {
    about: "a JavaScript module that exports tools; its code runs",
    kind: TEXT,
    variable: "THROUGHLINE_TOOLS",
    untrusted: "nothing",
  },
  allowTools: {
    about: "allow only these tools",
    kind: NAMES,
    variable: "THROUGHLINE_ALLOW_TOOLS",
    untrusted: (value, below) => below === undefined || isSubset(value, below),
  },
  allow: {
    about: "calls that run without a question, as TOOL or TOOL:PATTERN; a project cannot set this",
    kind: RULES,
    variable: "THROUGHLINE_ALLOW",
    untrusted: "nothing",
    userOnly: true,
  },
  maxSteps: {
    about: "the maximum number of requests in a turn",
    kind: integerKind(1),
    variable: "THROUGHLINE_MAX_STEPS",
    usual: 50,
    untrusted: (value, below) => Number(value) <= Number(below ?? 50),
  },
  maxCostUsd: {
    about: "stop once the turn or its session has cost this much",
    kind: POSITIVE,
    variable: "THROUGHLINE_MAX_COST_USD",
    untrusted: (value, below) => below === undefined || Number(value) <= Number(below),
  },
  showReasoning: {
    about:
      "how to show reasoning: live title and duration (auto), with its text (full), titles only, or none",
    kind: choiceKind(SHOW_REASONING),
    variable: "THROUGHLINE_SHOW_REASONING",
    usual: "auto",
    untrusted: (value, below) => rankIn(SHOWN, value) <= rankIn(SHOWN, below ?? "auto"),
  },
  projectInstructions: {
    about: "read the project's AGENTS.md files",
    kind: SWITCH,
    variable: "THROUGHLINE_PROJECT_INSTRUCTIONS",
    usual: true,
    untrusted: (value, below) => value === false || below !== false,
  },
  store: {
    about: "the PostgreSQL database that holds the sessions; a project cannot set this",
    kind: TEXT,
    variable: "THROUGHLINE_STORE",
    untrusted: "nothing", // it decides who reads the conversations
    userOnly: true,
    secret: true,
  },
  providers: {
    about: "more endpoints, by provider name (the part of a model's name before the slash)",
    kind: PROVIDER_ENTRIES,
    untrusted: "nothing",
  },
  providerTools: {
    about: "tools that a provider runs, by provider name: a type, or an object in the form its API takes",
    kind: HOSTED_ENTRIES,
    untrusted: "nothing", // they cost money and pass the conversation to others
  },
  profiles: {
    about: "how endpoints differ from their dialect, by profile name",
    kind: PROFILE_ENTRIES,
    untrusted: "nothing",
  },
  mcpServers: {
    about: "MCP servers whose tools the model may use, by name, in the form that other programs use",
    kind: MCP_SERVERS,
    untrusted: "nothing", // they are programs that run, or see what the model sends them
  },
  proxy: {
    about: "what throughline proxy does unless a flag says otherwise; a project cannot set this",
    kind: PROXY_SETTINGS,
    untrusted: "nothing", // it decides where other programs' requests go
    userOnly: true,
  },
} as const satisfies Readonly<Record<string, ConfigKey>>;

export type ConfigName = keyof typeof CONFIG_KEYS;

export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(CONFIG_KEYS, name);
}

/** Settings that had another name in an earlier version. */
const RENAMED: Readonly<Record<string, ConfigName>> = { hosted: "providerTools" };

/** The words about a setting that does not exist: what it became, or which one was probably meant. */
export function unknownSetting(name: string): string {
  const word = `unknown setting ${JSON.stringify(name.slice(0, 60))}`;
  const became = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined;
  if (became !== undefined) return `${word}; it became "${became}"`;
  const meant = meantOption(name, CONFIG_NAMES) ?? closestTo(name, CONFIG_NAMES);
  const known = `one of ${CONFIG_NAMES.join(", ")}`;
  return meant === undefined ? `${word}; use ${known}` : `${word}; did you mean "${meant}"? Use ${known}`;
}

export function keyOf(name: ConfigName): ConfigKey {
  return CONFIG_KEYS[name];
}

export type ConfigValues = {
  readonly [Name in ConfigName]?: ValueOf<(typeof CONFIG_KEYS)[Name]["kind"]>;
};

/** Returns whether an untrusted project may replace the value `below` with this one. */
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

const BY_NAME: readonly ConfigName[] = ["providers", "providerTools", "profiles", "mcpServers"];

/** Merges the entries of a few settings by name; every other value is replaced. */
export function laidOver(name: ConfigName, below: unknown, value: unknown): unknown {
  return BY_NAME.includes(name) && isObject(below) && isObject(value) ? { ...below, ...value } : value;
}
