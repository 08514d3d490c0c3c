/**
 * Loads scenario files. Everything is checked before anything runs, because a misspelt expectation would check nothing
 * and never fail.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, normalize, resolve } from "node:path";

import { parseDocument } from "yaml";

import { readText } from "../../../base/files/index.ts";
import {
  didYouMean,
  arrayOf,
  codedError,
  isObject,
  type JsonObject,
  messageOf,
  numberOf,
  objectOf,
  stringOf,
  ThroughlineError,
  readProblem,
} from "../../../base/support/index.ts";
import { jsonSchemaValidator } from "../../../runtime/tools/index.ts";
import { SCENARIO_SCHEMA } from "./scenario-schema.ts";
import type { EvalScenario, ScenarioTurn } from "./scenario.ts";

const FORMS: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"]);
const DEFAULT_SECONDS = 300;
const MAX_BYTES = 4 * 1024 * 1024;

export function loadScenarios(paths: readonly string[]): readonly EvalScenario[] {
  const scenarios = paths.flatMap((path) => filesOf(shipped(path) ?? path)).map((file) => loadScenario(file));
  const names = new Map<string, string>();
  for (const { name, file } of scenarios) {
    const other = names.get(name);
    if (other !== undefined && other !== file)
      throw invalid(file, `its name ${name} is already used by ${other}`);
    names.set(name, file);
  }
  return [...new Map(scenarios.map((one) => [one.file, one])).values()];
}

/** Returns the folder of the bundled suite for `quick`, unless a file or folder of that name exists here. */
function shipped(path: string): string | undefined {
  if (path !== "quick" || existsSync(path)) return undefined;
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const suite = join(folder, "evals", path);
    if (existsSync(suite) && existsSync(join(folder, "package.json"))) return suite;
  }
  return undefined;
}

/** Returns a file, or the scenario files directly in a folder. Its subfolders are fixtures. */
function filesOf(path: string): readonly string[] {
  let folder: boolean;
  try {
    folder = statSync(path).isDirectory();
  } catch (error) {
    throw codedError("file_unreadable", `cannot read ${path}: ${readProblem(error)}`);
  }
  if (!folder) return [resolve(path)];
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && FORMS.has(extname(entry.name).toLowerCase()))
    .filter(({ name }) => !name.endsWith(".schema.json"))
    .map(({ name }) => resolve(path, name))
    .toSorted();
  if (files.length === 0) throw codedError("scenario_missing", `no scenario (.yaml, .json) in ${path}`);
  return files;
}

const fits = jsonSchemaValidator(SCENARIO_SCHEMA);

/** For a mistyped key at the top of a scenario: which one was probably meant. */
function meantKey(value: unknown): string {
  const known = Object.keys(objectOf(SCENARIO_SCHEMA["properties"]));
  const unknown = Object.keys(objectOf(value)).find((key) => !known.includes(key));
  return unknown === undefined ? "" : didYouMean(unknown, known);
}

function loadScenario(file: string): EvalScenario {
  const value = parse(file);
  const verdict = fits(value);
  if (!verdict.ok || !isObject(value))
    throw invalid(file, verdict.ok ? "it must contain an object" : `${verdict.message}${meantKey(value)}`);
  const folder = dirname(file);
  const limits = objectOf(value["limits"]);
  const fixture = stringOf(value["fixture"]);
  const tools = stringOf(value["tools"]) ?? "builtin";
  const scenario: EvalScenario = {
    name: stringOf(value["name"]) ?? basename(file, extname(file)),
    file,
    about: stringOf(value["about"]) ?? "",
    models: arrayOf(value["models"]).map(String),
    fixture: fixture === undefined ? undefined : folderAt(file, resolve(folder, fixture)),
    files: filesIn(file, objectOf(value["files"])),
    tools: tools === "builtin" || tools === "none" ? tools : resolve(folder, tools),
    allowTools: value["allowTools"] === undefined ? undefined : arrayOf(value["allowTools"]).map(String),
    system: stringOf(value["system"]),
    permissions: permissionsOf(value["permissions"]),
    limits: {
      steps: numberOf(limits["steps"]),
      seconds: numberOf(limits["seconds"]) ?? DEFAULT_SECONDS,
      costUsd: numberOf(limits["costUsd"]),
    },
    emulator: isObject(value["emulator"]) ? value["emulator"] : undefined,
    turns: arrayOf(value["turns"]).map((turn) => turnOf(objectOf(turn))),
    expect: objectOf(value["expect"]),
  };
  checkPatterns(file, scenario);
  return scenario;
}

function parse(file: string): unknown {
  let text: string;
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    text = readText(file);
  } catch (error) {
    throw codedError("file_unreadable", `cannot read ${file}: ${readProblem(error)}`);
  }
  const document = parseDocument(text, { prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw invalid(file, `not valid YAML or JSON: ${broken.message}`);
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw invalid(file, messageOf(error));
  }
}

function turnOf(turn: JsonObject): ScenarioTurn {
  return {
    send: String(turn["send"]),
    model: stringOf(turn["model"]),
    output: isObject(turn["output"]) ? turn["output"] : undefined,
    expect: objectOf(turn["expect"]),
  };
}

function permissionsOf(value: unknown): EvalScenario["permissions"] {
  return value === "read-only" || value === "deny" ? value : "auto";
}

function folderAt(file: string, path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw invalid(file, `the fixture ${path} is not a folder`);
  return path;
}

function filesIn(file: string, files: JsonObject): Readonly<Record<string, string>> {
  for (const path of Object.keys(files)) assertInside(file, path);
  return files as Readonly<Record<string, string>>;
}

function assertInside(file: string, path: string): void {
  const clean = normalize(path);
  if (isAbsolute(path) || clean === ".." || clean.startsWith(`..${join("/")}`) || clean === ".")
    throw invalid(file, `the path ${path} is outside the folder of the run`);
}

/** Rejects an invalid pattern or schema now, so that it does not count as a failure of the model. */
function checkPatterns(file: string, { turns, expect }: EvalScenario): void {
  const texts = [
    ...turns.map(({ expect: one }) => one.text),
    ...(expect.files ?? []),
    ...(expect.commands ?? []).map(({ output }) => output),
  ];
  for (const path of (expect.files ?? []).map((one) => one.path)) assertInside(file, path);
  try {
    for (const one of texts) if (one?.matches !== undefined) void new RegExp(one.matches, "u");
    for (const schema of turns.flatMap(({ expect: one, output }) => [one.json, output]))
      if (schema !== undefined) jsonSchemaValidator(schema);
  } catch (error) {
    throw invalid(file, messageOf(error));
  }
}

function invalid(file: string, why: string): ThroughlineError {
  return new ThroughlineError({
    code: "scenario_invalid",
    message: `${file}: ${why} (docs/eval.md describes scenarios)`,
    details: { file },
  });
}
