/** The settings of a step, from the model, the agent's options and the tools. The fold reads these from the log. */

import type { Settings } from "../../base/events/index.ts";
import { withDefaults } from "../../base/support/index.ts";
import type { Model } from "../providers/index.ts";
import { specOf } from "../tools/index.ts";
import { NO_TOOLS, type Toolset } from "./session-tools.ts";
import type { AgentOptions } from "./types.ts";

export function settingsFor(
  model: Model,
  options: AgentOptions,
  { tools, instructions }: Toolset = NO_TOOLS,
  output?: Settings["output"],
): Settings {
  const { contextTokens } = options.limits ?? {};
  return {
    ...model.settings,
    capabilities: withDefaults(model.settings.capabilities, { contextTokens }),
    system: options.system,
    ...(instructions.length === 0 ? {} : { serverInstructions: instructions }),
    tools: tools.map((tool) => specOf(tool)),
    replay: options.replay?.reasoning ?? "all",
    foreign: options.replay?.otherModels,
    output,
  };
}
