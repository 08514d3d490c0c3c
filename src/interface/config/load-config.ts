/**
 * The settings in force, in layers: usual values < the user's file < the project's file < the environment. Flags come
 * last and are the command's own business. Every value says where it comes from. What a project may not set without
 * trust is left out and told.
 */

import { invalidValue, readConfigFile } from "./config-file.ts";
import { CONFIG_NAMES, type ConfigName, type ConfigValues, keyOf, laidOver } from "./config-keys.ts";
import { type Environment, trustFile, userConfigFile } from "./paths.ts";
import { readProjectConfig } from "./project.ts";
import { type TrustDecision, trustOf } from "./trust.ts";

export type Layer = "usual" | "user" | "project" | "environment";

export interface Setting {
  readonly name: ConfigName;
  readonly value: unknown;
  readonly layer: Layer;
  /** The file or the variable. */
  readonly place: string;
}

export interface ProjectState {
  readonly file: string;
  readonly sha256: string;
  /** What it sets that needs trust. Empty: nothing, and no decision is looked up. */
  readonly needsTrust: readonly ConfigName[];
  readonly decision: TrustDecision | undefined;
}

export interface LoadedConfig {
  readonly values: ConfigValues;
  readonly settings: ReadonlyMap<ConfigName, Setting>;
  readonly project: ProjectState | undefined;
}

export function loadConfig(cwd: string, env: Environment = process.env): LoadedConfig {
  const settings = new Map<ConfigName, Setting>();
  const put = (name: ConfigName, value: unknown, layer: Layer, place: string): void => {
    settings.set(name, { name, value: laidOver(name, settings.get(name)?.value, value), layer, place });
  };
  for (const name of CONFIG_NAMES) {
    const { usual } = keyOf(name);
    if (usual !== undefined) put(name, usual, "usual", "");
  }
  const userFile = userConfigFile(env);
  for (const [name, value] of valuesOf(readConfigFile(userFile)?.values)) put(name, value, "user", userFile);
  const project = loadProject(cwd, env, settings, put);
  for (const name of CONFIG_NAMES) {
    const { variable } = keyOf(name);
    const text = variable === undefined ? undefined : env[variable];
    // Empty is as good as unset.
    if (variable !== undefined && text !== undefined && text !== "")
      put(name, valueFromText(name, text, variable), "environment", variable);
  }
  const values = Object.fromEntries([...settings].map(([name, { value }]) => [name, value]));
  return { values, settings, project };
}

function loadProject(
  cwd: string,
  env: Environment,
  below: ReadonlyMap<ConfigName, Setting>,
  put: (name: ConfigName, value: unknown, layer: Layer, place: string) => void,
): ProjectState | undefined {
  const project = readProjectConfig(cwd);
  if (project === undefined || project.file === userConfigFile(env)) return undefined;
  const { file, sha256 } = project;
  const set = valuesOf(project.values);
  const needsTrust = set
    .filter(([name, value]) => !keyOf(name).harmless(value, below.get(name)?.value))
    .map(([name]) => name);
  const decision = needsTrust.length === 0 ? undefined : trustOf(trustFile(env), file, sha256);
  for (const [name, value] of set) {
    if (decision === "trusted" || !needsTrust.includes(name)) put(name, value, "project", file);
  }
  return { file, sha256, needsTrust, decision };
}

function valuesOf(values: ConfigValues | undefined): readonly (readonly [ConfigName, unknown])[] {
  return Object.entries(values ?? {}) as readonly (readonly [ConfigName, unknown])[];
}

/** A value as it is typed: in a variable, or behind `config set`. */
export function valueFromText(name: ConfigName, text: string, place: string): unknown {
  const { kind } = keyOf(name);
  const value = kind.fromText(text);
  const complaint = kind.complaint(value);
  if (complaint !== undefined) throw invalidValue(place, name, complaint);
  return value;
}
