/**
 * `openaiChat(model, { profile: "deepseek" })`: a model on a chat-completions endpoint. The profile names the vendor; its
 * address and key variable come with it.
 *
 * @module
 */

import type { Model } from "../providers/index.ts";
import { endpointModel, type ModelOptions } from "./endpoint-model.ts";
import { PROVIDERS, type Provider } from "./providers.ts";

export function openaiChat(model: string, options: ModelOptions = {}): Model {
  const { profile = "openai-chat" } = options;
  const named = typeof profile === "string" ? PROVIDERS[profile] : undefined;
  const provider = named?.profile === profile ? named : (PROVIDERS["openai-chat"] as Provider);
  return endpointModel(provider, model, options);
}
