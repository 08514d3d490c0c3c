/** The rules for `POST /v1/messages`. */

import { beginsWithUser } from "./begins-with-user.ts";
import { blocksFitTheirRole } from "./blocks-fit-their-role.ts";
import { callsAreWhole } from "./calls-are-whole.ts";
import { callsHaveResults } from "./calls-have-results.ts";
import { endsWithUser } from "./ends-with-user.ts";
import { fewCachedBlocks } from "./few-cached-blocks.ts";
import { knownRoles } from "./known-roles.ts";
import { limitsAreSound } from "./limits-are-sound.ts";
import type { MessagesRule } from "./message-view.ts";
import { messagesHaveContent } from "./messages-have-content.ts";
import { noExtraFields } from "./no-extra-fields.ts";
import { noForcedToolWithThinking } from "./no-forced-tool-with-thinking.ts";
import { noThinkingWhenDisabled } from "./no-thinking-when-disabled.ts";
import { oneResultPerCall } from "./one-result-per-call.ts";
import { openTurnStartsWithThinking } from "./open-turn-starts-with-thinking.ts";
import { resultsComeFirst } from "./results-come-first.ts";
import { resultsHaveCalls } from "./results-have-calls.ts";
import { serverPairsAreWhole } from "./server-pairs-are-whole.ts";
import { textIsNotEmpty } from "./text-is-not-empty.ts";
import { thinkingAllOrNone } from "./thinking-all-or-none.ts";
import { thinkingIsNotLast } from "./thinking-is-not-last.ts";
import { thinkingIsSigned } from "./thinking-is-signed.ts";
import { thinkingKeepsItsPrefix } from "./thinking-keeps-its-prefix.ts";
import { uniqueToolIds } from "./unique-tool-ids.ts";
import { validToolIds } from "./valid-tool-ids.ts";
import { validToolNames } from "./valid-tool-names.ts";

export type { MessagesFacts } from "./facts.ts";
export { viewHead, viewMessage } from "./message-view.ts";

export const MESSAGES_RULES: readonly MessagesRule[] = [
  thinkingIsNotLast,
  openTurnStartsWithThinking,
  thinkingIsSigned,
  thinkingKeepsItsPrefix,
  thinkingAllOrNone,
  noThinkingWhenDisabled,
  callsHaveResults,
  resultsComeFirst,
  resultsHaveCalls,
  endsWithUser,
  validToolIds,
  uniqueToolIds,
  oneResultPerCall,
  textIsNotEmpty,
  messagesHaveContent,
  beginsWithUser,
  knownRoles,
  blocksFitTheirRole,
  limitsAreSound,
  noForcedToolWithThinking,
  fewCachedBlocks,
  noExtraFields,
  callsAreWhole,
  serverPairsAreWhole,
  validToolNames,
];
