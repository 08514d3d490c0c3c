/** A scenario: scripted answers, one per accepted request, each with its faults. Parsed by `loadScenario`. */

import type { Fault } from "../faults/fault.ts";
import type { DialectName, ModelTraits } from "../model-traits.ts";
import type { Reply } from "../output/draft.ts";
import type { Switches } from "../switches.ts";

/** One scripted answer, with its faults. */
export interface ScenarioStep extends Reply {
  /** Applies only to a request whose last user message contains this text; otherwise the step waits. */
  readonly when?: string | undefined;
  readonly faults: readonly Fault[];
}

/** Scripted answers for the emulator, one per accepted request. Made by `loadScenario`. */
export interface Scenario {
  readonly name: string;
  /** Only requests of this dialect take its steps; if absent, all do. */
  readonly dialect?: DialectName | undefined;
  readonly steps: readonly ScenarioStep[];
  /** Who answers after the last step: the built-in model, the steps again, or an error. */
  readonly afterwards: "model" | "repeat" | "error";
  readonly switches: Partial<Switches>;
  readonly models: Readonly<Record<string, Partial<ModelTraits>>>;
}
