/** Chooses the models of an evaluation: from `-m a,b`, from a file, or from the scenario. */

import { readText } from "../../../base/files/index.ts";
import { arrayOf, codedError, type JsonObject, messageOf, readProblem } from "../../../base/support/index.ts";
import { type Emulator, loadScenario as loadEmulatorScript, parseFaults } from "../../../emulator/index.ts";
import { emulator, splitEffort } from "../../../runtime/models/index.ts";
import type { Model } from "../../../runtime/providers/index.ts";
import type { EvalScenario } from "./scenario.ts";

export const DEFAULT_MODEL = "emulator/emu-reasoner";
const EMULATED = "emulator/";

/** Creates a model by name, including models of the user's own providers. */
export type ModelFrom = (name: string) => Model;

/** Returns the names in order, each once; undefined means each scenario's own models. */
export function modelNames(
  named: readonly string[],
  file: string | undefined,
  modelFrom: ModelFrom,
): readonly string[] | undefined {
  const names = [...named.flatMap((list) => list.split(",")), ...(file === undefined ? [] : linesOf(file))]
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0 && file === undefined && named.length === 0) return undefined;
  if (names.length === 0) throw codedError("model_invalid", "no model given: use -m a,b or --models FILE");
  for (const name of names) createModelOf(name, undefined, modelFrom); // reports a wrong name before anything runs
  return [...new Set(names)];
}

/** Reads one model per line; a # starts a comment. */
function linesOf(file: string): readonly string[] {
  try {
    return readText(file)
      .split("\n")
      .map((line) => line.replace(/#.*/, ""));
  } catch (error) {
    throw codedError("file_unreadable", `--models ${file}: cannot read this file: ${readProblem(error)}`);
  }
}

/** Creates a model as production does, except that an emulated one answers without pauses and plays the scenario's script. */
export function createModelOf(
  name: string,
  script: JsonObject | undefined,
  modelFrom: ModelFrom,
  onStart?: (emulator: Emulator) => void,
): Model {
  if (!name.startsWith(EMULATED)) return modelFrom(name);
  const named = splitEffort(name.slice(EMULATED.length));
  return named.model === "" ? modelFrom(name) : emulator({ ...named, onStart, ...scriptOf(script) });
}

function scriptOf(script: JsonObject | undefined): Parameters<typeof emulator>[0] {
  if (script === undefined) return {};
  const { faults, ...rest } = script;
  return {
    faults: arrayOf(faults).map((text) => {
      const parsed = parseFaults(String(text));
      const [first] = parsed;
      return parsed.length === 1 && first !== undefined ? first : { type: "all", faults: parsed };
    }),
    ...(Object.keys(rest).length === 0
      ? {}
      : { scenario: loadEmulatorScript(JSON.stringify({ steps: [], ...rest }), "emulator") }),
  };
}

/** Rejects an invalid script before anything runs, and names its file. */
export function assertScript(
  { emulator: script, file, turns, models }: EvalScenario,
  modelFrom: ModelFrom,
): void {
  try {
    scriptOf(script);
    for (const name of [...models, ...turns.map(({ model }) => model)])
      if (name !== undefined && name !== "first") createModelOf(name, undefined, modelFrom);
  } catch (error) {
    throw codedError("scenario_invalid", `${file}: ${messageOf(error)}`, error);
  }
}
