/**
 * The models a user can name.
 *
 * @module
 */

export { emulator, type EmulatorModelOptions } from "./emulator.ts";
export { modelFrom } from "./model-from.ts";
export { openai, type OpenAiOptions } from "./openai.ts";
export { priced, pricedModels, priceOf } from "./prices.ts";
