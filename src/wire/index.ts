/**
 * Bytes ⇄ typed frames. Knows protocols, not our domain.
 *
 * @module
 */

export {
  BINDING_BETA,
  ERROR_TYPES,
  MESSAGES_DELTAS,
  MESSAGES_EVENTS,
  SERVER_BLOCKS,
  STOP_REASONS,
  TOOL_ID_PATTERN,
} from "./anthropic-messages.ts";
export { type HttpRequest, type HttpResponse, type HttpTimeouts, postStream, readText } from "./http.ts";
export { nodeHttp } from "./node-http.ts";
export {
  CHAT_DONE,
  CHAT_REASONING_FIELDS,
  CHAT_ROLES,
  CHAT_THINKING_PART,
  type ChatFinishReason,
  type ChatReasoningField,
  type ChatToolCall,
} from "./openai-chat.ts";
export type { BodyChunks } from "./read-chunks.ts";
export { HOSTED_ITEMS, ITEM_ID_PREFIXES, RESPONSES_EVENTS } from "./openai-responses.ts";
export { SseDecoder, type SseFrame, type SseLimits } from "./sse.ts";
