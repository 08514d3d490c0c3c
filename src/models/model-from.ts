/**
 * `modelFrom("openai/gpt-5.6:high")`: a model by its name, as `-m` takes it.
 *
 * @module
 */

import { EFFORTS, type Model } from "../providers/index.ts";
import { ThroughlineError } from "../support/index.ts";
import { emulator } from "./emulator.ts";
import { openai } from "./openai.ts";

const PROVIDERS: Readonly<Record<string, (model: string, effort: string | undefined) => Model>> = {
  openai: (model, effort) => openai(model, effort === undefined ? {} : { effort }),
  // On a person's screen the emulator streams at a pace that can be followed.
  emulator: (model, effort) =>
    emulator({ model, paceMs: HUMAN_PACE_MS, ...(effort === undefined ? {} : { effort }) }),
};

const HUMAN_PACE_MS = 12;

export function modelFrom(name: string): Model {
  const slash = name.indexOf("/");
  const provider = slash === -1 ? "" : name.slice(0, slash);
  const create = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (create === undefined || slash === name.length - 1) {
    const known = Object.keys(PROVIDERS).join(", ");
    throw new ThroughlineError({
      code: "model_invalid",
      message: `"${name}" is not a model: write provider/model[:effort], for example openai/gpt-5.6:high or emulator/emu-reasoner. Providers: ${known}`,
    });
  }
  const { model, effort } = splitEffort(name.slice(slash + 1));
  return create(model, effort);
}

/** ":high" is an effort only if it is a known level: "qwen3:8b" is a model id. */
function splitEffort(text: string): { readonly model: string; readonly effort?: string } {
  const colon = text.lastIndexOf(":");
  const effort = text.slice(colon + 1);
  return colon > 0 && EFFORTS.has(effort) ? { model: text.slice(0, colon), effort } : { model: text };
}
