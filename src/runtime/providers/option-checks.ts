/** What a custom profile and capabilities may say. */

import type { Capabilities, ChatProfile, Profile, RequestField } from "../../base/events/index.ts";
import {
  aChoice,
  aFlag,
  aList,
  aNumber,
  aRecord,
  aText,
  nested,
  type OptionCheck,
  type OptionChecks,
} from "../../base/support/index.ts";

const aField = nested({
  field: aText,
  value: (value) =>
    typeof value === "string" || typeof value === "boolean" ? undefined : "a string, true or false",
} satisfies OptionChecks<RequestField>);

const chat = nested({
  reasoningFields: aList(aText, "names"),
  fieldsApart: aFlag,
  reasoningRequired: aChoice("calls", "tool_rounds", "with_tools", "never"),
  whenNone: aChoice("omit", "empty"),
  thinkingSwitch: aChoice("none", "thinking", "enable_thinking", "reasoning"),
  thinkingOff: aChoice("switch", "never"),
  sendEffort: aFlag,
  effortWords: aRecord(aText, "strings"),
  maxTokensField: aChoice("max_completion_tokens", "max_tokens"),
  userAfterTool: aFlag,
  userAfterUser: aFlag,
  sendUsageOption: aFlag,
  sendStrict: aFlag,
  showThoughts: aField,
  keepThoughts: aField,
} satisfies OptionChecks<ChatProfile>);

const profile = nested({
  name: aText,
  dialect: aChoice("openai-responses", "openai-chat", "anthropic-messages"),
  responseForm: aChoice("items", "blocks", "message"),
  itemIds: aChoice("keep", "omit"),
  maxItemIdLength: aNumber(1),
  maxCallIdLength: aNumber(1),
  callIdPattern: aText,
  callIdsRepeat: aFlag,
  reasoningContent: aChoice("empty", "verbatim"),
  reasoningPayload: aChoice("required", "optional"),
  prefixBound: aFlag,
  sendInclude: aFlag,
  sendStore: aFlag,
  sendPromptCacheKey: aFlag,
  hostedOmit: aList(aText, "item types"),
  omitsAlone: aFlag,
  unitesParameters: aFlag,
  serverCustomCalls: aFlag,
  itemIdsRepeat: aFlag,
  patienceMs: aNumber(0),
  chat,
  evidence: aRecord(aText, "strings"),
} satisfies OptionChecks<Profile>);

/** A profile, or the name of one, which has an error code of its own. */
export const aProfile: OptionCheck = (value, place) =>
  typeof value === "string" ? undefined : profile(value, place) && "the name of a profile, or a profile";

export const someCapabilities = nested({
  reasoning: aFlag,
  sampling: aFlag,
  vision: aFlag,
  contextTokens: aNumber(1),
  thinking: aChoice("adaptive", "budget", "none"),
  thinkingOff: aChoice("disabled", "between_tools", "never"),
  readsThoughtsOf: aText,
  forcedTools: aFlag,
  maxOutputTokens: aNumber(1),
} satisfies OptionChecks<Capabilities>);
