/** Models of the vendors whose dialects are supported, and of anything else that speaks one of them. */

import { checkOptions } from "../../base/support/index.ts";
import type { ProviderTool, Model } from "../providers/index.ts";
import { endpointModel, type ModelOptions } from "./endpoint-model.ts";
import { ANTHROPIC_OPTIONS, CHAT_OPTIONS, OPENAI_OPTIONS } from "./option-checks.ts";
import { PROVIDERS, type Provider } from "./providers.ts";

/** Options of `openai`. */
export interface OpenAiOptions extends ModelOptions {
  /** How readable the reasoning summaries are. Default: "auto". */
  readonly summary?: "auto" | "concise" | "detailed" | "none" | undefined;
  /** Which earlier reasoning the model reads. Default: the provider's choice. */
  readonly reasoningContext?: "auto" | "current_turn" | "all_turns" | undefined;
  /** Tools that the provider runs: `"web_search"`, `{ type: "mcp", server_label, server_url }` … */
  readonly providerTools?: readonly ProviderTool[] | undefined;
}

/**
 * Returns a model on the OpenAI Responses API, or on any endpoint that speaks it.
 *
 * @example
 * ```ts
 * import { createAgent, openai } from "throughline";
 *
 * const agent = createAgent({ model: openai("gpt-5.6", { apiKey: "sk-…", effort: "high" }) });
 * const session = await agent.open();
 * console.log(session.model.label); // openai/gpt-5.6
 * await session.close();
 * ```
 */
export function openai(model: string, options: OpenAiOptions = {}): Model {
  checkOptions("openai", options, OPENAI_OPTIONS);
  return endpointModel(PROVIDERS["openai"] as Provider, model, options);
}

/** Options of `anthropic`. */
export interface AnthropicOptions extends ModelOptions {
  /** With `none`, thoughts have no readable text (`display: "omitted"`). Default: summarised. */
  readonly summary?: "auto" | "none" | undefined;
  /** Tools that the provider runs: `"web_search_20260318"`, `{ type: "web_search_20260318", max_uses: 3 }` … */
  readonly providerTools?: readonly ProviderTool[] | undefined;
}

/**
 * Returns a Claude model, or a model on any endpoint that speaks the Messages API.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "throughline";
 *
 * const model = anthropic("claude-opus-5", { apiKey: "sk-ant-…", effort: "high", maxOutputTokens: 16_000 });
 * const session = await createAgent({ model }).open();
 * console.log(session.model.label); // anthropic/claude-opus-5
 * await session.close();
 * ```
 */
export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  checkOptions("anthropic", options, ANTHROPIC_OPTIONS);
  return endpointModel(PROVIDERS["anthropic"] as Provider, model, options);
}

/**
 * Returns a model on a chat completions endpoint. `profile` names the vendor and brings its address and key variable.
 *
 * @example
 * ```ts
 * import { createAgent, openaiChat } from "throughline";
 *
 * const model = openaiChat("deepseek-chat", { profile: "deepseek", apiKey: "sk-…" });
 * const session = await createAgent({ model }).open();
 * console.log(session.model.label); // deepseek/deepseek-chat
 * await session.close();
 * ```
 */
export function openaiChat(model: string, options: ModelOptions = {}): Model {
  checkOptions("openaiChat", options, CHAT_OPTIONS);
  const { profile = "openai-chat" } = options;
  const named = typeof profile === "string" ? PROVIDERS[profile] : undefined;
  const provider = named?.profile === profile ? named : (PROVIDERS["openai-chat"] as Provider);
  return endpointModel(provider, model, options);
}
