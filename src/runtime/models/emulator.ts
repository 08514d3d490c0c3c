/**
 * `emulator()`: the built-in stand-in for the providers, in this process and without a key. The model's name decides
 * which dialect it speaks (docs/emulator.md).
 */

import type { Effort } from "../../base/events/index.ts";
import { checkOptions } from "../../base/support/index.ts";
import type { Emulator, EmulatorOptions } from "../../emulator/index.ts";
import { createModel, type ProviderTool, type Model } from "../providers/index.ts";
import { EMULATOR_OPTIONS } from "./option-checks.ts";
import { priced } from "./prices.ts";

/** Options of `emulator`: those of `startEmulator`, and which model it emulates. */
export interface EmulatorModelOptions extends EmulatorOptions {
  /** The emulated model; its name selects the dialect (docs/emulator.md). Default: "emu-reasoner". */
  readonly model?: string | undefined;
  /** How hard the model thinks. Default: the model's choice. */
  readonly effort?: Effort | undefined;
  /** Tools that the emulated provider runs. */
  readonly providerTools?: readonly ProviderTool[] | undefined;
  /** Called with the server once it runs, for its report and to close it before the process ends. */
  readonly onStart?: ((emulator: Emulator) => void) | undefined;
}

const DEFAULT_MODEL = "emu-reasoner";

/** The models to offer: one of each kind. docs/emulator.md lists more, and any other id works too. */
export const EMULATED_MODELS: readonly string[] = [DEFAULT_MODEL, "emu-plain", "emu-claude", "emu-deepseek"];

/** The profile of an emulated model; all others speak Responses. The longest matching name counts. */
const PROFILES: Readonly<Record<string, string>> = {
  "emu-claude": "anthropic",
  "emu-chat": "openai-chat",
  "emu-deepseek": "deepseek",
  "emu-deepseek-old": "deepseek-old",
  "emu-kimi": "moonshot",
  "emu-mistral": "mistral",
  "emu-groq": "groq",
  "emu-router": "openrouter",
  "emu-glm": "zai",
  "emu-qwen": "qwen",
  "emu-minimax": "minimax",
  "emu-cerebras": "cerebras",
  "emu-fireworks": "fireworks",
  "emu-vllm": "vllm",
};

export function emulatedProfile(model: string): string {
  const name = Object.keys(PROFILES)
    .filter((one) => model === one || model.startsWith(`${one}-`))
    .toSorted((a, b) => b.length - a.length)[0];
  return (name === undefined ? undefined : PROFILES[name]) ?? "emulator";
}

/**
 * Returns a model on the built-in emulator. Needs no key and no network; the server starts with the first request.
 *
 * @example
 * ```ts
 * import { createAgent, emulator } from "throughline";
 *
 * const session = await createAgent({ model: emulator({ model: "emu-claude" }) }).open();
 * console.log(await session.send("Think of a number.").text());
 * await session.close();
 * ```
 */
export function emulator(options: EmulatorModelOptions = {}): Model {
  checkOptions("emulator", options, EMULATOR_OPTIONS);
  const { model = DEFAULT_MODEL, effort, providerTools, onStart, ...emulatorOptions } = options;
  let started: Promise<Emulator> | undefined;
  const profile = emulatedProfile(model);
  return priced(
    createModel({
      provider: "emulator",
      model,
      profile,
      // The port differs from run to run, but the emulator's key does not, so its sessions continue after a restart.
      endpointName: "built-in",
      baseUrl: async () => {
        started ??= import("../../emulator/index.ts").then(async ({ startEmulator }) => {
          const server = await startEmulator({ ...emulatorOptions, unref: true });
          onStart?.(server);
          return server;
        });
        const { baseUrl } = await started;
        // Each ecosystem has its convention: Anthropic's base URL omits the version.
        return profile === "anthropic" ? baseUrl.replace(/\/v1$/, "") : baseUrl;
      },
      // Not an ordinary word, because loaded keys are redacted from tool output.
      apiKey: "throughline-built-in-emulator-key",
      keyName: "no key",
      effort,
      providerTools,
    }),
  );
}
