/** The models a user can name. */

export { EMULATED_MODELS, emulatedProfile, emulator, type EmulatorModelOptions } from "./emulator.ts";
export type { ModelOptions } from "./endpoint-model.ts";
export { meantModel } from "./meant-model.ts";
export { modelFrom, type ModelFromOptions, splitEffort } from "./model-from.ts";
export { givenPrice, type GivenPrice, priced, pricedModels, priceOf } from "./prices.ts";
export { hasKey, type Provider, PROVIDERS, urlFromEnvironment } from "./providers.ts";
export { anthropic, type AnthropicOptions, openai, openaiChat, type OpenAiOptions } from "./vendor-models.ts";
