/** Bytes ⇄ typed frames. Knows protocols, not our domain. */

export { type HttpResponse, type HttpTimeouts, postStream, readText } from "./http.ts";
export type { BodyChunks } from "./read-chunks.ts";
export { HOSTED_ITEMS, RESPONSES_EVENTS } from "./openai-responses.ts";
export { SseDecoder, type SseFrame } from "./sse.ts";
