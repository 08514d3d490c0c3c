/** Everything kept between requests, in any dialect. Knows nothing about sockets. */

import { type Clock, type Given, withDefaults } from "../base/support/index.ts";
import type { Fault } from "./faults/fault.ts";
import { IssuedRecord } from "./issued-record.ts";
import { ThreadStore } from "./messages/threads.ts";
import { type DialectName, type ModelTraits, traitsOf } from "./model-traits.ts";
import { PromptCache } from "./output/usage.ts";
import { ResponseStore } from "./responses/store.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { Seal } from "./seal.ts";
import { defaultSwitches, type Switches } from "./switches.ts";

export interface EngineOptions {
  readonly mode: "strict" | "lenient";
  readonly switches: Given<Switches>;
  readonly scenario: Scenario | undefined;
  readonly models: Readonly<Record<string, Partial<ModelTraits>>>;
  readonly accounts: Readonly<Record<string, string>> | undefined;
  readonly secret: string;
  readonly seed: string | undefined;
  readonly clock: Clock;
}

export class Engine {
  readonly options: EngineOptions;
  readonly switches: Switches;
  readonly seal: Seal;
  readonly issued = new IssuedRecord();
  readonly store = new ResponseStore();
  readonly threads = new ThreadStore();
  readonly cache: PromptCache;
  readonly strict: boolean;
  /** The next step of the scenario. */
  scenarioStep = 0;
  readonly #faults: Fault[] = [];

  constructor(options: EngineOptions) {
    this.options = options;
    this.switches = withDefaults(defaultSwitches, options.scenario?.switches, options.switches);
    this.strict = options.mode === "strict";
    this.seal = new Seal({ secret: options.secret, seed: options.seed });
    this.cache = new PromptCache(this.switches.cacheMinimumTokens);
  }

  addFaults(faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  takeFault(): readonly Fault[] {
    const next = this.#faults.shift();
    return next === undefined ? [] : [next];
  }

  traitsOf(model: string, dialect: DialectName): ModelTraits | undefined {
    return traitsOf(model, dialect, { ...this.options.scenario?.models, ...this.options.models });
  }

  seconds(): number {
    return Math.floor(this.options.clock.now() / 1000);
  }
}
