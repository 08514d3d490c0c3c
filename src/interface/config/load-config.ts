/**
 * Loads the settings in force, in layers: defaults < the user's file < the project's file < the environment. Commands
 * apply their flags last. Every value says where it comes from. Settings that a project may not set without trust are
 * left out and reported.
 */

import { invalidValue, readConfigFile } from "./config-file.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValues,
  keyOf,
  laidOver,
  mayUntrusted,
} from "./config-keys.ts";
import { type FileSet, fileClosure } from "./file-closure.ts";
import { type Environment, trustFile, userConfigFile } from "./paths.ts";
import { type ProjectProblem, readProjectConfig } from "./project.ts";
import { type TrustChange, type TrustDecision, trustOf, type TrustSubject } from "./trust.ts";

export type Layer = "usual" | "user" | "project" | "environment";

export interface Setting {
  readonly name: ConfigName;
  readonly value: unknown;
  readonly layer: Layer;
  /** The file or the variable. */
  readonly location: string;
}

export interface ProjectState {
  readonly file: string;
  readonly sha256: string;
  /** The settings in it that need trust. If empty, no decision is looked up. */
  readonly needsTrust: readonly ConfigName[];
  /** The settings in it that only the user may set. They are ignored, trusted or not. */
  readonly userOnly: readonly ConfigName[];
  readonly decision: TrustDecision | undefined;
  /** The files that run because of it; undefined if it names no code. */
  readonly code: FileSet | undefined;
  /** The changes since the last trusted state. */
  readonly changes: readonly TrustChange[];
}

export interface LoadedConfig {
  readonly values: ConfigValues;
  readonly settings: ReadonlyMap<ConfigName, Setting>;
  readonly project: ProjectState | undefined;
  /** Why the project's file is ignored, if it is. */
  readonly problem: ProjectProblem | undefined;
}

export function loadConfig(cwd: string, env: Environment = process.env): LoadedConfig {
  const settings = new Map<ConfigName, Setting>();
  const put = (name: ConfigName, value: unknown, layer: Layer, location: string): void => {
    settings.set(name, { name, value: laidOver(name, settings.get(name)?.value, value), layer, location });
  };
  for (const name of CONFIG_NAMES) {
    const { usual } = keyOf(name);
    if (usual !== undefined) put(name, usual, "usual", "");
  }
  const userFile = userConfigFile(env);
  for (const [name, value] of valuesOf(readConfigFile(userFile)?.values)) put(name, value, "user", userFile);
  const { project, problem } = loadProject(cwd, env, settings, put);
  for (const name of CONFIG_NAMES) {
    const { variable } = keyOf(name);
    const text = variable === undefined ? undefined : env[variable];
    // An empty variable counts as unset.
    if (variable !== undefined && text !== undefined && text !== "")
      put(name, valueFromText(name, text, variable), "environment", variable);
  }
  const values = Object.fromEntries([...settings].map(([name, { value }]) => [name, value]));
  return { values, settings, project, problem };
}

function loadProject(
  cwd: string,
  env: Environment,
  below: ReadonlyMap<ConfigName, Setting>,
  put: (name: ConfigName, value: unknown, layer: Layer, location: string) => void,
): Pick<LoadedConfig, "project" | "problem"> {
  const { config, problem } = readProjectConfig(cwd);
  if ((config?.file ?? problem?.file) === userConfigFile(env)) return NO_PROJECT;
  if (config === undefined) return { project: undefined, problem };
  const { file, sha256, root } = config;
  const userOnly = valuesOf(config.values).flatMap(([name]) => (keyOf(name).userOnly === true ? [name] : []));
  const set = valuesOf(config.values).filter(([name]) => !userOnly.includes(name));
  const needsTrust = set
    .filter(([name, value]) => !mayUntrusted(name, value, below.get(name)?.value))
    .map(([name]) => name);
  const { tools } = config.values;
  const code = tools === undefined ? undefined : fileClosure(root, [tools]);
  const { decision, changes } =
    needsTrust.length === 0
      ? { decision: undefined, changes: [] }
      : trustOf(trustFile(env), trustSubject({ file, sha256, code }));
  const trusted = decision === "trusted" && code?.problem === undefined;
  for (const [name, value] of set) {
    if (trusted || !needsTrust.includes(name)) put(name, value, "project", file);
  }
  const project = {
    file,
    sha256,
    needsTrust,
    userOnly,
    decision: decision === "trusted" && !trusted ? undefined : decision,
    code,
    changes,
  };
  return { project, problem: undefined };
}

const NO_PROJECT = { project: undefined, problem: undefined };

/** Returns what a decision about a project covers. */
export function trustSubject({
  file,
  sha256,
  code,
}: Pick<ProjectState, "file" | "sha256" | "code">): TrustSubject {
  const files = (code?.files ?? []).map(({ name, sha256: hash }) => [name, hash] as const);
  return { file, sha256, files: Object.fromEntries(files) };
}

function valuesOf(values: ConfigValues | undefined): readonly (readonly [ConfigName, unknown])[] {
  return Object.entries(values ?? {}) as readonly (readonly [ConfigName, unknown])[];
}

/** A setting that no project can set, read without looking at the project. */
export function ownSetting<Name extends ConfigName>(
  name: Name,
  env: Environment = process.env,
): ConfigValues[Name] | undefined {
  const { variable } = keyOf(name);
  const text = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && text !== undefined && text !== "")
    return valueFromText(name, text, variable) as ConfigValues[Name];
  return readConfigFile(userConfigFile(env))?.values[name];
}

/** Parses a value typed in an environment variable or with `config set`. */
export function valueFromText(name: ConfigName, text: string, location: string): unknown {
  const { kind } = keyOf(name);
  const value = kind.fromText(text);
  const complaint = kind.complaint(value);
  if (complaint !== undefined) throw invalidValue(location, name, complaint);
  return value;
}
