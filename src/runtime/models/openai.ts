/**
 * `openai(model, options)`: a model on the OpenAI Responses API or on anything that speaks it.
 *
 * @module
 */

import type { Model } from "../providers/index.ts";
import { endpointModel, type ModelOptions } from "./endpoint-model.ts";
import { PROVIDERS, type Provider } from "./providers.ts";

export interface OpenAiOptions extends ModelOptions {
  readonly summary?: "auto" | "concise" | "detailed" | "none";
  readonly reasoningContext?: "auto" | "current_turn" | "all_turns";
  /** Tools the provider runs: `web_search` … */
  readonly hosted?: readonly string[];
}

export function openai(model: string, options: OpenAiOptions = {}): Model {
  return endpointModel(PROVIDERS["openai"] as Provider, model, options);
}
