/** What `startEmulator` accepts. */

import {
  aChoice,
  aClock,
  aFlag,
  aFunction,
  aList,
  aNumber,
  aPort,
  aRecord,
  aText,
  choiceOf,
  isObject,
  nested,
  type OptionCheck,
  type OptionChecks,
} from "../base/support/index.ts";
import type { EmulatorOptions } from "./index.ts";
import type { ModelTraits } from "./model-traits.ts";
import { switchValues } from "./switches.ts";

const switches = nested(
  Object.fromEntries(Object.entries(switchValues).map(([name, values]) => [name, aSwitch(values)])),
);

function aSwitch(values: readonly unknown[] | "number"): OptionCheck {
  if (values === "number") return aNumber(0);
  const words = values.map(String);
  return (value) => (values.includes(value) ? undefined : choiceOf(words, value));
}

const traits = nested({
  reasoning: aFlag,
  encryptedContent: aFlag,
  sampling: aFlag,
  prefixBound: aFlag,
  contextTokens: aNumber(1),
} satisfies OptionChecks<ModelTraits>);

const aScenario: OptionCheck = (value) =>
  isObject(value) && Array.isArray(value["steps"]) ? undefined : "a scenario from loadScenario(…)";

const aFault: OptionCheck = (value) =>
  isObject(value) && typeof value["type"] === "string"
    ? undefined
    : 'an object with a type, such as { type: "none" }';

export const EMULATOR_OPTIONS = {
  host: aText,
  port: aPort,
  mode: aChoice("strict", "lenient"),
  switches,
  scenario: aScenario,
  faults: aList(aFault, "faults"),
  paceMs: aNumber(0),
  secret: aText,
  accounts: aRecord(aText, "strings"),
  models: aRecord(traits, "traits by model"),
  record: aFunction,
  clock: aClock,
  seed: aText,
  unref: aFlag,
} satisfies OptionChecks<EmulatorOptions>;
