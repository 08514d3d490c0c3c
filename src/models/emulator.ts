/**
 * `emulator()`: the built-in stand-in for a provider, in this process, with no key. A drop-in that says what it is.
 *
 * @module
 */

import type { Emulator, EmulatorOptions } from "../emulator/index.ts";
import { createModel, type Model } from "../providers/index.ts";

export interface EmulatorModelOptions extends EmulatorOptions {
  readonly model?: string;
  readonly effort?: string;
}

const DEFAULT_MODEL = "emu-reasoner";

export function emulator(options: EmulatorModelOptions = {}): Model {
  const { model = DEFAULT_MODEL, effort, ...emulatorOptions } = options;
  let started: Promise<Emulator> | undefined;
  return createModel({
    provider: "emulator",
    model,
    profile: "emulator",
    // The port differs from run to run; the emulator's key does not, so its sessions go on after a restart.
    endpointName: "built-in",
    baseUrl: async () => {
      started ??= import("../emulator/index.ts").then(({ startEmulator }) =>
        startEmulator({ ...emulatorOptions, unref: true }),
      );
      return (await started).baseUrl;
    },
    // Not an ordinary word: loaded keys are redacted from tool output.
    apiKey: "throughline-built-in-emulator-key",
    keyName: "no key",
    ...(effort === undefined ? {} : { effort }),
  });
}
