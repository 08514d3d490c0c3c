/**
 * Decides which model a run uses: flag > environment > the session's own > the project's or the user's settings > a real
 * model if its key is set > the emulator. A model whose key is missing is rejected before a session is created.
 */

import { asEffort, type Settings } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { PROVIDERS } from "../../runtime/models/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import type { ConfigValues, LoadedConfig } from "../config/index.ts";
import type { RunFlags } from "./run-options.ts";
import { blamed } from "./unusable-settings.ts";
import { userProviders } from "./user-providers.ts";

const EMULATOR_MODEL = "emulator/emu-reasoner";
/** The default is the first of these whose key is set. */
const USUAL_MODELS: readonly (readonly [provider: string, model: string])[] = [
  ["openai", "gpt-5.6"],
  ["anthropic", "claude-opus-5"],
];

export function chooseModel(parts: {
  readonly flags: Pick<RunFlags, "model" | "effort">;
  readonly config: LoadedConfig;
  readonly modelFrom: (name: string) => Model;
  /** The last settings of the session, if an existing one is continued. */
  readonly kept: Settings | undefined;
}): Model {
  const { flags, config, modelFrom } = parts;
  const setting = (name: "model" | "effort") => config.settings.get(name);
  const fromEnvironment = (name: "model" | "effort"): string | undefined =>
    setting(name)?.layer === "environment" ? String(setting(name)?.value) : undefined;
  const asked = flags.model ?? fromEnvironment("model");
  const kept = asked === undefined ? parts.kept : undefined;
  const name =
    asked ?? (kept === undefined ? undefined : modelName(kept)) ?? config.values.model ?? usualModel();
  const own = flags.model === undefined && kept === undefined && config.values.model !== undefined;
  const model = own ? blamed(config, "model", () => modelFrom(name)) : modelFrom(name);
  const effort = flags.effort ?? fromEnvironment("effort");
  if (effort !== undefined) return model.withEffort(asEffort(effort));
  // An effort from the settings files applies only if the model name has none and the session has no settings yet.
  const usual = kept === undefined && model.settings.effort === undefined ? config.values.effort : undefined;
  return usual === undefined ? model : model.withEffort(usual);
}

/** The models that continue a turn when the model is out of service: those of the flag, else those of the settings. */
export function chooseFallback(parts: {
  readonly flags: Pick<RunFlags, "fallback">;
  readonly config: LoadedConfig;
  readonly modelFrom: (name: string) => Model;
}): readonly Model[] {
  const { flags, config, modelFrom } = parts;
  const given = flags.fallback ?? [];
  const names = given.length > 0 ? given : (config.values.fallback ?? []);
  const find = (): readonly Model[] => names.map((name) => modelFrom(name));
  const models = given.length > 0 ? find() : blamed(config, "fallback", find);
  for (const model of models) requireKey(model, config.values);
  return models;
}

function usualModel(): string {
  const found = USUAL_MODELS.find(([provider]) => {
    const variable = PROVIDERS[provider]?.keyVariable;
    return variable !== undefined && (process.env[variable] ?? "") !== "";
  });
  return found === undefined ? EMULATOR_MODEL : found.join("/");
}

/** Called before anything is written, so that no session is created that cannot be answered. */
export function requireKey(model: Model, config: ConfigValues): void {
  const { provider, credential } = model.settings.target;
  if (credential !== "none") return;
  const known = userProviders(config)[provider] ?? PROVIDERS[provider];
  throw codedError(
    "api_key_missing",
    `no API key for ${model.label}: set ${known?.keyVariable ?? "its key"}, or use -m ${EMULATOR_MODEL} (no key needed)`,
  );
}

function modelName({ target, effort }: Settings): string {
  return `${target.provider}/${target.model}${effort === undefined ? "" : `:${effort}`}`;
}
