/** The rules for `POST /v1/chat/completions`, per vendor. */

import { answersHaveCalls } from "./answers-have-calls.ts";
import { callsAreAnswered } from "./calls-are-answered.ts";
import { callsAreFunctions } from "./calls-are-functions.ts";
import type { ChatRule } from "./chat-view.ts";
import { knownChatRoles } from "./known-chat-roles.ts";
import { messagesSaySomething } from "./messages-say-something.ts";
import { noForeignReasoning } from "./no-foreign-reasoning.ts";
import { noUserAfterTool } from "./no-user-after-tool.ts";
import { reasoningComesBack } from "./reasoning-comes-back.ts";
import { reasoningDetailsAreWhole } from "./reasoning-details-are-whole.ts";
import { reasoningInItsField } from "./reasoning-in-its-field.ts";
import { validCallIds } from "./valid-call-ids.ts";
import { validToolNames } from "./valid-tool-names.ts";

export { viewChatMessage, viewChatRequest } from "./chat-view.ts";
export type { ChatFacts, ChatTraits } from "./facts.ts";
export { CHAT_VENDORS } from "./vendors.ts";

export const CHAT_RULES: readonly ChatRule[] = [
  callsAreAnswered,
  answersHaveCalls,
  reasoningComesBack,
  reasoningInItsField,
  noForeignReasoning,
  reasoningDetailsAreWhole,
  noUserAfterTool,
  validCallIds,
  messagesSaySomething,
  knownChatRoles,
  callsAreFunctions,
  validToolNames,
];
