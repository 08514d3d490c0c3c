/**
 * What `POST /v1/messages` accepts.
 *
 * @module
 */

import type { MessagesRule } from "./message-view.ts";

export type { MessagesFacts } from "./facts.ts";
export { viewHead, viewMessage } from "./message-view.ts";

export const MESSAGES_RULES: readonly MessagesRule[] = [];
