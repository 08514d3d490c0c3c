/**
 * What each step of a turn is sent with: the model of the session or of this turn, its renderer, its settings. Renderer
 * and settings are kept while nothing changes, so that a step costs only what is new.
 */

import type { Origin, Settings } from "../../base/events/index.ts";
import type { Model, Renderer } from "../providers/index.ts";
import type { StepSetup } from "../turn/index.ts";
import type { OutputFormat } from "./output-schema.ts";
import type { Toolset } from "./session-tools.ts";
import { settingsFor } from "./settings.ts";
import type { AgentOptions } from "./types.ts";

/** Options that apply to one turn only. */
export interface TurnOverrides {
  readonly model?: Model | undefined;
  readonly output?: OutputFormat | undefined;
  /** The fallback model that a resumed turn had changed to. */
  readonly fellBackTo?: Origin | undefined;
  /** A turn that a crash interrupted goes on with the tools it had. */
  readonly keepTools?: boolean | undefined;
}

export class SetupCache {
  readonly #options: AgentOptions;
  readonly #toolset: () => Toolset;
  #renderer: { readonly model: Model; readonly renderer: Renderer } | undefined;
  #settings:
    | {
        readonly model: Model;
        readonly output: OutputFormat | undefined;
        readonly toolset: Toolset;
        readonly value: Settings;
      }
    | undefined;

  constructor(options: AgentOptions, toolset: () => Toolset) {
    this.#options = options;
    this.#toolset = toolset;
  }

  get(model: Model, output: OutputFormat | undefined): StepSetup {
    if (this.#renderer?.model !== model) this.#renderer = { model, renderer: model.createRenderer() };
    const toolset = this.#toolset();
    const known = this.#settings;
    const same = known?.model === model && known.output === output && known.toolset === toolset;
    const settings = same ? known.value : settingsFor(model, this.#options, toolset, output?.format);
    if (!same) this.#settings = { model, output, toolset, value: settings };
    return { model, renderer: this.#renderer.renderer, settings };
  }
}
