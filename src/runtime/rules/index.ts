/**
 * What the APIs accept: one file per numbered rule, one folder per dialect. Applied to every request before it is sent,
 * and to histories by `check`. Pure.
 */

import { MESSAGES_RULES, type MessagesFacts, viewHead, viewMessage } from "./anthropic-messages/index.ts";
import { CHAT_RULES, type ChatFacts, viewChatMessage, viewChatRequest } from "./openai-chat/index.ts";
import { RESPONSES_RULES, type ResponsesFacts, viewItem } from "./openai-responses/index.ts";
import { type RequestCheck, RuleSet } from "./rule-set.ts";

export { MESSAGES_RULES } from "./anthropic-messages/index.ts";
export { CHAT_RULES, CHAT_VENDORS, type ChatTraits } from "./openai-chat/index.ts";
export {
  callOutput,
  isCallType,
  isOutputType,
  ITEM_ID_PREFIXES,
  type ItemOutline,
  type KeptByServer,
  outlineOf,
  RESPONSES_RULES,
} from "./openai-responses/index.ts";
export { HEAD, type Violation } from "./rule.ts";
export type { PieceContext, RequestCheck } from "./rule-set.ts";

/** The facts about a request, besides its pieces, that each dialect's rules need. */
export interface DialectFacts {
  readonly "openai-responses": ResponsesFacts;
  readonly "anthropic-messages": MessagesFacts;
  readonly "openai-chat": ChatFacts;
}

const START: { readonly [D in keyof DialectFacts]: (facts: DialectFacts[D]) => RequestCheck } = {
  "openai-responses": (facts) => new RuleSet(RESPONSES_RULES, facts, viewItem, ({ type }) => type),
  "anthropic-messages": (facts) => new RuleSet(MESSAGES_RULES, viewHead(facts), viewMessage),
  "openai-chat": (facts) => new RuleSet(CHAT_RULES, viewChatRequest(facts), viewChatMessage),
};

/** Starts checking a request. Its pieces (input items, messages) are pushed as they are rendered. */
export function createRequestCheck<D extends keyof DialectFacts>(
  dialect: D,
  facts: DialectFacts[D],
): RequestCheck {
  return START[dialect](facts);
}
