/**
 * Plan → request, frames → stream events, for every dialect.
 *
 * @module
 */

export { HOSTED_RULES, namedInError, RENDERER_VERSION } from "./openai-responses/index.ts";
export { createRenderer } from "./renderer.ts";
export { EFFORTS, PROFILES } from "./profiles.ts";
export type {
  DeltaChannel,
  ItemDraft,
  ItemSource,
  Model,
  ModelSettings,
  RenderContext,
  RenderedRequest,
  Renderer,
  SendOptions,
  StreamEnd,
  StreamEvent,
} from "./provider.ts";
export { type ApiKey, createResponsesModel, type ResponsesModelOptions } from "./responses-model.ts";
