/** The rules for the `input` of `POST /v1/responses`. */

import { assistantTextIsOutputText } from "./assistant-text-is-output-text.ts";
import { callsHaveOutputs } from "./calls-have-outputs.ts";
import { idsAllOrNone } from "./ids-all-or-none.ts";
import type { ResponsesRule } from "./item-view.ts";
import { messagesHaveContent } from "./messages-have-content.ts";
import { noBareReasoning } from "./no-bare-reasoning.ts";
import { noDuplicateIds } from "./no-duplicate-ids.ts";
import { noForeignPayload } from "./no-foreign-payload.ts";
import { noServerState } from "./no-server-state.ts";
import { outputsArePresent } from "./outputs-are-present.ts";
import { outputsFollowCalls } from "./outputs-follow-calls.ts";
import { outputsHaveCalls } from "./outputs-have-calls.ts";
import { reasoningHasNoOutputFields } from "./reasoning-has-no-output-fields.ts";
import { reasoningHasSummary } from "./reasoning-has-summary.ts";
import { reasoningNeedsFollower } from "./reasoning-needs-follower.ts";
import { responsesAreContiguous } from "./responses-are-contiguous.ts";
import { validCallIds } from "./valid-call-ids.ts";
import { validItemIds } from "./valid-item-ids.ts";
import { validToolNames } from "./valid-tool-names.ts";

export { callOutput, isCallType, isOutputType } from "./call-types.ts";
export { ITEM_ID_PREFIXES } from "./valid-item-ids.ts";

export type { KeptByServer, ResponsesFacts } from "./facts.ts";
export { type ItemOutline, outlineOf, viewItem } from "./item-view.ts";

export const RESPONSES_RULES: readonly ResponsesRule[] = [
  reasoningNeedsFollower,
  idsAllOrNone,
  noBareReasoning,
  noDuplicateIds,
  validItemIds,
  callsHaveOutputs,
  outputsHaveCalls,
  outputsFollowCalls,
  validCallIds,
  reasoningHasSummary,
  reasoningHasNoOutputFields,
  assistantTextIsOutputText,
  outputsArePresent,
  noServerState,
  responsesAreContiguous,
  noForeignPayload,
  messagesHaveContent,
  validToolNames,
];
