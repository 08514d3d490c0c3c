/**
 * `anthropic(model, options)`: Claude, or anything that speaks the Messages API.
 *
 * @module
 */

import type { Model } from "../providers/index.ts";
import { endpointModel, type ModelOptions } from "./endpoint-model.ts";
import { PROVIDERS, type Provider } from "./providers.ts";

export interface AnthropicOptions extends ModelOptions {
  /** `none`: thoughts come back without readable text (`display: "omitted"`). Default: summarised. */
  readonly summary?: "auto" | "none";
  /** Tools the provider runs, by their wire type: `web_search_20250305` … */
  readonly hosted?: readonly string[];
}

export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  return endpointModel(PROVIDERS["anthropic"] as Provider, model, options);
}
