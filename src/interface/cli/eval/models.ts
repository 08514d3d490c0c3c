/** The models of an evaluation: from `-m a,b`, from a file, or the scenario's own. */

import { readText } from "../../../base/files/index.ts";
import { arrayOf, codedError, type JsonObject, messageOf } from "../../../base/support/index.ts";
import { type Emulator, loadScenario as loadEmulatorScript, parseFaults } from "../../../emulator/index.ts";
import { emulator, splitEffort } from "../../../runtime/models/index.ts";
import type { Model } from "../../../runtime/providers/index.ts";
import { readProblem } from "../read-problem.ts";
import type { EvalScenario } from "./scenario.ts";

export const DEFAULT_MODEL = "emulator/emu-reasoner";
const EMULATED = "emulator/";

/** A model by its name, with the user's own providers. */
export type ModelFrom = (name: string) => Model;

/** Names in order, each once; undefined: each scenario's own. */
export function modelNames(
  named: readonly string[],
  file: string | undefined,
  modelFrom: ModelFrom,
): readonly string[] | undefined {
  const names = [...named.flatMap((list) => list.split(",")), ...(file === undefined ? [] : linesOf(file))]
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length === 0 && file === undefined && named.length === 0) return undefined;
  if (names.length === 0) throw codedError("model_invalid", "no model is named: -m a,b or --models FILE");
  for (const name of names) createModelOf(name, undefined, modelFrom); // a wrong name is told before anything runs
  return [...new Set(names)];
}

/** One model a line; what follows a # is a remark. */
function linesOf(file: string): readonly string[] {
  try {
    return readText(file)
      .split("\n")
      .map((line) => line.replace(/#.*/, ""));
  } catch (error) {
    throw codedError("file_unreadable", `--models ${file}: cannot be read: ${readProblem(error)}`);
  }
}

/** As production makes it; an emulated one answers without its human pace, and with the scenario's script. */
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

/** A script that cannot be played is told before anything runs, with the file it stands in. */
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
