/** Models of the vendors whose dialects are supported, and of anything else that speaks one of them. */

import type { ProviderTool, Model } from "../providers/index.ts";
import { endpointModel, type ModelOptions } from "./endpoint-model.ts";
import { PROVIDERS, type Provider } from "./providers.ts";

export interface OpenAiOptions extends ModelOptions {
  readonly summary?: "auto" | "concise" | "detailed" | "none";
  readonly reasoningContext?: "auto" | "current_turn" | "all_turns";
  /** Tools the provider runs: `web_search`, `{ type: "mcp", server_label, server_url }` … */
  readonly providerTools?: readonly ProviderTool[] | undefined;
}

/** A model on the OpenAI Responses API, or on anything compatible. */
export function openai(model: string, options: OpenAiOptions = {}): Model {
  return endpointModel(PROVIDERS["openai"] as Provider, model, options);
}

export interface AnthropicOptions extends ModelOptions {
  /** With `none`, thoughts have no readable text (`display: "omitted"`). Default: summarised. */
  readonly summary?: "auto" | "none";
  /** Tools the provider runs: `web_search_20260318`, `{ type: "web_search_20260318", max_uses: 3 }` … */
  readonly providerTools?: readonly ProviderTool[] | undefined;
}

/** Claude, or a model on anything compatible with the Messages API. */
export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  return endpointModel(PROVIDERS["anthropic"] as Provider, model, options);
}

/**
 * `openaiChat(model, { profile: "deepseek" })`: a model on a chat-completions endpoint. The profile names the vendor
 * and brings its address and key variable.
 */
export function openaiChat(model: string, options: ModelOptions = {}): Model {
  const { profile = "openai-chat" } = options;
  const named = typeof profile === "string" ? PROVIDERS[profile] : undefined;
  const provider = named?.profile === profile ? named : (PROVIDERS["openai-chat"] as Provider);
  return endpointModel(provider, model, options);
}
