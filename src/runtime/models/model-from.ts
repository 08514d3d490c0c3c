/** `modelFrom("openai/gpt-5.6:high")`: a model by its name, as `-m` accepts it. */

import { asEffort, type Effort, EFFORTS, isEffort } from "../../base/events/index.ts";
import { aText, checkArgument, checkOptions, closestTo, codedError } from "../../base/support/index.ts";
import type { ProviderTool, Model } from "../providers/index.ts";
import { emulator } from "./emulator.ts";
import { endpointModel } from "./endpoint-model.ts";
import { knownModels, meantModel } from "./meant-model.ts";
import { MODEL_FROM_OPTIONS } from "./option-checks.ts";
import { type Provider, PROVIDERS } from "./providers.ts";

/** Options of `modelFrom`. */
export interface ModelFromOptions {
  /** Custom providers, by name. They override built-in ones of the same name. */
  readonly providers?: Readonly<Record<string, Provider>> | undefined;
  /** Tools that a provider runs, by provider name. */
  readonly providerTools?: Readonly<Record<string, readonly ProviderTool[]>> | undefined;
}

/** On a person's screen the emulator streams at a readable pace. */
const HUMAN_PACE_MS = 12;

/**
 * Returns a model by its name, `provider/model[:effort]`, as `-m` takes it. Throws `model_invalid`.
 *
 * @example
 * ```ts
 * import { createAgent, modelFrom } from "throughline";
 *
 * const agent = createAgent({ model: modelFrom("emulator/emu-reasoner:high"), modelFrom });
 * const session = await agent.open();
 * await session.setModel("emulator/emu-claude"); // by name, because the agent has `modelFrom`
 * console.log(await session.send("Hello").text());
 * await session.close();
 * ```
 */
export function modelFrom(name: string, options: ModelFromOptions = {}): Model {
  checkArgument("modelFrom", "name", name, aText);
  checkOptions("modelFrom", options, MODEL_FROM_OPTIONS);
  const providers = { ...PROVIDERS, ...options.providers };
  const slash = name.indexOf("/");
  const providerName = slash === -1 ? "" : name.slice(0, slash);
  const provider = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined;
  const known = provider !== undefined || providerName === EMULATOR;
  if (!known || slash === name.length - 1) {
    const names = [EMULATOR, ...Object.keys(providers)].join(", ");
    const meant = meantModel(name, Object.keys(providers));
    throw codedError(
      "model_invalid",
      `"${name}" is not a model. Write provider/model[:effort], for example openai/gpt-5.6:high or emulator/emu-reasoner. Providers: ${names}${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
    );
  }
  refuseMistypedEffort(name, providerName);
  const { model, effort } = splitEffort(name.slice(slash + 1));
  const providerTools = Object.hasOwn(options.providerTools ?? {}, providerName)
    ? options.providerTools?.[providerName]
    : undefined;
  if (provider === undefined) return emulator({ model, paceMs: HUMAN_PACE_MS, effort, providerTools });
  return endpointModel(provider, model, { effort, providerTools });
}

const EMULATOR = "emulator";

/** Any text after a colon may belong to a model's id, but not behind a known model if it is almost an effort. */
function refuseMistypedEffort(name: string, provider: string): void {
  const colon = name.lastIndexOf(":");
  const [model, effort] = [name.slice(provider.length + 1, Math.max(colon, 0)), name.slice(colon + 1)];
  if (colon === -1 || isEffort(effort) || closestTo(effort, EFFORTS) === undefined) return;
  if (knownModels(provider).includes(model)) asEffort(effort); // throws `effort_unknown`
}

/** ":high" is an effort only if it is a known level: "qwen3:8b" is a model id. */
export function splitEffort(text: string): { readonly model: string; readonly effort?: Effort } {
  const colon = text.lastIndexOf(":");
  const effort = text.slice(colon + 1);
  return colon > 0 && isEffort(effort) ? { model: text.slice(0, colon), effort } : { model: text };
}
