/**
 * Loads the settings in force, in layers: defaults < the user's file < the project's file < the environment. Commands
 * apply their flags last. Every value says where it comes from. Settings that a project may not set without trust are
 * left out and reported.
 */

import { dirname } from "node:path";

import { invalidValue, readConfigFile } from "./config-file.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  type ConfigValues,
  keyOf,
  laidOver,
  mayUntrusted,
} from "./config-keys.ts";
import { fileClosure } from "./file-closure.ts";
import { type McpSource, serversIn } from "./mcp-file.ts";
import { type Environment, trustFile, userConfigFile } from "./paths.ts";
import { judgedPart, type ProjectPart } from "./project-part.ts";
import { type ProjectProblem, projectRoot, readProjectConfig, readProjectMcp } from "./project.ts";
import { serverFiles } from "./server-files.ts";
import { projectSkills, type SkillFile } from "./skill-files.ts";

export type Layer = "usual" | "user" | "project" | "environment";

export interface Setting {
  readonly name: ConfigName;
  readonly value: unknown;
  readonly layer: Layer;
  /** The file or the variable. */
  readonly location: string;
}

export interface LoadedConfig {
  readonly values: ConfigValues;
  readonly settings: ReadonlyMap<ConfigName, Setting>;
  /** Every part of the project that may need trust. */
  readonly parts: readonly ProjectPart[];
  /** The part that is the project's settings file. */
  readonly project: ProjectPart | undefined;
  /** Which files of the project are ignored, and why. */
  readonly problems: readonly ProjectProblem[];
  /** The MCP servers of files that count here, the weakest first. Untrusted files are left out. */
  readonly mcp: readonly McpSource[];
  /** The project's skills if they are trusted, nearest first. */
  readonly skills: readonly SkillFile[];
  /** Which of them are left out because their files cannot be read. They do not stop the others from being trusted. */
  readonly skillProblems: readonly ProjectProblem[];
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
  const user = readConfigFile(userFile);
  for (const [name, value] of valuesOf(user?.values)) put(name, value, "user", userFile);
  const own = loadProject(cwd, env, settings, put);
  const shared = loadMcpFile(cwd, env);
  for (const name of CONFIG_NAMES) {
    const { variable } = keyOf(name);
    const text = variable === undefined ? undefined : env[variable];
    // An empty variable counts as unset.
    if (variable !== undefined && text !== undefined && text !== "")
      put(name, valueFromText(name, text, variable), "environment", variable);
  }
  const values = Object.fromEntries([...settings].map(([name, { value }]) => [name, value]));
  const skilled = loadSkills(cwd, env);
  const loaded: readonly LoadedPart[] = [own, shared, skilled];
  return {
    values,
    settings,
    parts: loaded.flatMap(({ part }) => part ?? []),
    project: own.part,
    problems: loaded.flatMap(({ problem }) => problem ?? []),
    mcp: [
      { layer: "user", file: userFile, folder: cwd, ...serversIn(user?.text ?? "") },
      ...[shared, own].flatMap(({ mcp }) => mcp ?? []),
    ],
    skills: skilled.skills ?? [],
    skillProblems: skilled.problems,
  };
}

interface LoadedPart {
  readonly part?: ProjectPart;
  readonly problem?: ProjectProblem | undefined;
  readonly mcp?: McpSource;
}

function loadProject(
  cwd: string,
  env: Environment,
  below: ReadonlyMap<ConfigName, Setting>,
  put: (name: ConfigName, value: unknown, layer: Layer, location: string) => void,
): LoadedPart {
  const { found, problem } = readProjectConfig(cwd);
  if ((found?.file ?? problem?.file) === userConfigFile(env)) return {};
  if (found === undefined) return { problem };
  const { file, sha256, values, text } = found;
  const root = projectRoot(cwd);
  const userOnly = valuesOf(values).flatMap(([name]) => (keyOf(name).userOnly === true ? [name] : []));
  const set = valuesOf(values).filter(([name]) => !userOnly.includes(name));
  const needsTrust = set
    .filter(([name, value]) => !mayUntrusted(name, value, below.get(name)?.value))
    .map(([name]) => name);
  const { tools } = values;
  // The folder that has the folder .throughline.
  const mcp: McpSource = { layer: "project", file, folder: dirname(dirname(file)), ...serversIn(text) };
  const part = judgedPart(trustFile(env), {
    type: "settings",
    file,
    sha256,
    needsTrust,
    userOnly,
    code: tools === undefined ? undefined : fileClosure(root, [tools]),
    servers: mcp.servers,
    named: serverFiles(root, mcp.folder, mcp.servers, env),
  });
  const trusted = part.decision === "trusted";
  for (const [name, value] of set) {
    if (trusted || !needsTrust.includes(name)) put(name, value, "project", file);
  }
  return { part, ...(trusted ? { mcp } : {}) };
}

function loadMcpFile(cwd: string, env: Environment): LoadedPart {
  const { found, problem } = readProjectMcp(cwd);
  if (found === undefined) return { problem };
  const { file, sha256, servers } = found;
  const folder = dirname(file);
  const part = judgedPart(trustFile(env), {
    type: "servers",
    file,
    sha256,
    needsTrust: servers.map(({ name }) => name),
    userOnly: [],
    code: undefined,
    servers,
    named: serverFiles(projectRoot(cwd), folder, servers, env),
  });
  return { part, ...(part.decision === "trusted" ? { mcp: { layer: "mcp.json", folder, ...found } } : {}) };
}

function loadSkills(
  cwd: string,
  env: Environment,
): LoadedPart & { readonly problems: readonly ProjectProblem[]; readonly skills?: readonly SkillFile[] } {
  const { place, skills, set, problems } = projectSkills(cwd, projectRoot(cwd), env);
  if (place === undefined) return { problems };
  const part = judgedPart(trustFile(env), {
    type: "skills",
    file: place,
    sha256: "", // a folder has no bytes of its own
    needsTrust: [...new Set(skills.map(({ called }) => called))],
    userOnly: [],
    code: undefined,
    servers: [],
    named: set,
  });
  return { part, problems, ...(part.decision === "trusted" ? { skills } : {}) };
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
