/**
 * The models a user can name.
 *
 * @module
 */

export { anthropic, type AnthropicOptions } from "./anthropic.ts";
export { EMULATED_MODELS, emulatedProfile, emulator, type EmulatorModelOptions } from "./emulator.ts";
export type { ModelOptions } from "./endpoint-model.ts";
export { modelFrom, type ModelFromOptions } from "./model-from.ts";
export { openai, type OpenAiOptions } from "./openai.ts";
export { openaiChat } from "./openai-chat.ts";
export { priced, pricedModels, priceOf } from "./prices.ts";
export { type Provider, PROVIDERS } from "./providers.ts";
