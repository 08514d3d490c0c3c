/**
 * `emulator()`: the built-in stand-in for the providers, in this process, with no key. A drop-in that says what it is.
 * The model's name says which dialect it speaks (docs/emulator.md).
 */

import type { Emulator, EmulatorOptions } from "../../emulator/index.ts";
import { createModel, type ProviderTool, type Model } from "../providers/index.ts";
import { priced } from "./prices.ts";

export interface EmulatorModelOptions extends EmulatorOptions {
  readonly model?: string;
  readonly effort?: string | undefined;
  readonly providerTools?: readonly ProviderTool[] | undefined;
  /** Told of the server once it runs: for its report, and to close it before the process ends. */
  readonly onStart?: ((emulator: Emulator) => void) | undefined;
}

const DEFAULT_MODEL = "emu-reasoner";

/** What is offered of it: one of each kind. More are in docs/emulator.md, and any other id answers too. */
export const EMULATED_MODELS: readonly string[] = [DEFAULT_MODEL, "emu-plain", "emu-claude", "emu-deepseek"];

/** Which profile an emulated model answers to; all others speak Responses. The longest name that fits counts. */
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

export function emulator(options: EmulatorModelOptions = {}): Model {
  const { model = DEFAULT_MODEL, effort, providerTools, onStart, ...emulatorOptions } = options;
  let started: Promise<Emulator> | undefined;
  const profile = emulatedProfile(model);
  return priced(
    createModel({
      provider: "emulator",
      model,
      profile,
      // The port differs from run to run; the emulator's key does not, so its sessions go on after a restart.
      endpointName: "built-in",
      baseUrl: async () => {
        started ??= import("../../emulator/index.ts").then(async ({ startEmulator }) => {
          const server = await startEmulator({ ...emulatorOptions, unref: true });
          onStart?.(server);
          return server;
        });
        const { baseUrl } = await started;
        // As each ecosystem writes it: Anthropic's base URL stands without the version.
        return profile === "anthropic" ? baseUrl.replace(/\/v1$/, "") : baseUrl;
      },
      // Not an ordinary word: loaded keys are redacted from tool output.
      apiKey: "throughline-built-in-emulator-key",
      keyName: "no key",
      effort,
      providerTools,
    }),
  );
}
