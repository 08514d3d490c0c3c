/** What the functions that make models accept. */

import {
  aChoice,
  aClock,
  aCount,
  aFlag,
  aFunction,
  aList,
  anObject,
  aNumber,
  anything,
  aPort,
  aRecord,
  aText,
  isObject,
  nested,
  type OptionCheck,
  type OptionChecks,
} from "../../base/support/index.ts";
import { aProfile, someCapabilities } from "../providers/index.ts";
import type { EmulatorModelOptions } from "./emulator.ts";
import type { ModelOptions } from "./endpoint-model.ts";
import type { ModelFromOptions } from "./model-from.ts";
import type { Provider } from "./providers.ts";
import type { AnthropicOptions, OpenAiOptions } from "./vendor-models.ts";

const aKey: OptionCheck = (value) =>
  typeof value === "string" || typeof value === "function" ? undefined : "a string, or a function";

/** A header that HTTP cannot carry would fail every request, and not with a message about the header. */
const someHeaders: OptionCheck = (value, place) => {
  const use = aRecord(aText, "strings")(value, place);
  if (use !== undefined || !isObject(value)) return use;
  const wrong = Object.entries(value).find(
    ([name, text]) =>
      !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\u0020-\u007E\u0080-\u00FF]/.test(String(text)),
  );
  return wrong === undefined ? undefined : `one line of text for ${JSON.stringify(wrong[0])}`;
};

/** Provider tools have an error code of their own; here only their form counts. */
const someTools = aList(
  (value, place) => (typeof value === "string" ? undefined : anObject(value, place)),
  "provider tools",
);

const model = {
  apiKey: aKey,
  baseUrl: aText,
  headers: someHeaders,
  // An unknown effort has an error code of its own.
  effort: anything,
  profile: aProfile,
  capabilities: someCapabilities,
  maxOutputTokens: aCount(1),
  parameters: anObject,
  price: nested({ input: aNumber(0), output: aNumber(0), cachedInput: aNumber(0) }),
} satisfies OptionChecks<ModelOptions>;

export const OPENAI_OPTIONS = {
  ...model,
  summary: aChoice("auto", "concise", "detailed", "none"),
  reasoningContext: aChoice("auto", "current_turn", "all_turns"),
  providerTools: someTools,
} satisfies OptionChecks<OpenAiOptions>;

export const ANTHROPIC_OPTIONS = {
  ...model,
  summary: aChoice("auto", "none"),
  providerTools: someTools,
} satisfies OptionChecks<AnthropicOptions>;

export const CHAT_OPTIONS = model;

const aProvider = nested({
  name: aText,
  profile: aProfile,
  baseUrl: aText,
  baseUrlVariable: aText,
  keyVariable: aText,
  keyOptional: aFlag,
  keyHeader: aText,
  headers: someHeaders,
} satisfies OptionChecks<Provider>);

export const MODEL_FROM_OPTIONS = {
  providers: aRecord(aProvider, "providers"),
  providerTools: aRecord(someTools, "lists of provider tools"),
} satisfies OptionChecks<ModelFromOptions>;

/** `startEmulator` checks what is inside `switches`, `models` and `faults`; the emulator is loaded only when it is used. */
export const EMULATOR_OPTIONS = {
  model: aText,
  effort: anything,
  providerTools: someTools,
  onStart: aFunction,
  host: aText,
  port: aPort,
  mode: aChoice("strict", "lenient"),
  switches: anObject,
  scenario: anObject,
  faults: aList(anObject, "faults"),
  paceMs: aNumber(0),
  secret: aText,
  accounts: aRecord(aText, "strings"),
  models: anObject,
  record: aFunction,
  clock: aClock,
  seed: aText,
  unref: aFlag,
} satisfies OptionChecks<EmulatorModelOptions>;
