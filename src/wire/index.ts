/**
 * Bytes ⇄ typed frames. Knows protocols, not our domain.
 *
 * @module
 */

export { type HttpRequest, type HttpResponse, type HttpTimeouts, postStream, readText } from "./http.ts";
export { HOSTED_ITEMS, ITEM_ID_PREFIXES, RESPONSES_EVENTS } from "./openai-responses.ts";
export { SseDecoder, type SseFrame, type SseLimits } from "./sse.ts";
