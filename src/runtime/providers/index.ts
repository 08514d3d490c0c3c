/** Plan → request and frames → stream events, for every dialect. */

export type { Capabilities, Profile } from "../../base/events/index.ts";
export { capabilitiesOf, profileFor } from "./capabilities.ts";
export { type ApiKey, createModel, type CreateModelOptions } from "./create-model.ts";
export { createDecoder, createRenderer, rendererVersionOf } from "./dialects.ts";
export { classOf, remedyFor } from "./error-table.ts";
export { httpError, streamError } from "./errors.ts";
export type { ProviderTool } from "./provider-tools.ts";
export { namedInError, USER_AFTER_TOOL, USER_AFTER_USER } from "./named-in-error.ts";
export { HOSTED_RULES, inputFields } from "./openai-responses/index.ts";
export { isOutOfService } from "./out-of-service.ts";
export { aProfile, someCapabilities } from "./option-checks.ts";
export { costOf, type Price } from "./price.ts";
export { readAnswer } from "./read-answer.ts";
export { type ProfileName, PROFILES } from "./profiles/index.ts";
export type {
  DeltaChannel,
  ItemDraft,
  ItemSource,
  Model,
  RenderContext,
  RenderedRequest,
  Renderer,
  StreamDecoder,
  StreamEnd,
  StreamEvent,
  Violation,
} from "./provider.ts";
