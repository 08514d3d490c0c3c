/** The settings of a step, from the model and the agent's options. The fold reads these from the log. */

import type { Settings } from "../../base/events/index.ts";
import { withDefaults } from "../../base/support/index.ts";
import type { Model } from "../providers/index.ts";
import type { AgentOptions } from "./types.ts";

export function settingsFor(model: Model, options: AgentOptions, output?: Settings["output"]): Settings {
  const { contextTokens } = options.limits ?? {};
  return {
    ...model.settings,
    capabilities: withDefaults(model.settings.capabilities, { contextTokens }),
    system: options.system,
    tools: (options.tools ?? []).map(({ name, description, parameters, strict }) => ({
      name,
      description,
      parameters,
      strict,
    })),
    replay: options.replay?.reasoning ?? "all",
    foreign: options.replay?.otherModels,
    output,
  };
}
