/**
 * What `POST /v1/chat/completions` accepts, per vendor.
 *
 * @module
 */

import type { ChatRule } from "./chat-view.ts";

export type { ChatFacts, ChatTraits, ReasoningField } from "./facts.ts";
export { viewChatMessage, viewChatRequest } from "./chat-view.ts";
export { CHAT_VENDORS } from "./vendors.ts";

export const CHAT_RULES: readonly ChatRule[] = [];
