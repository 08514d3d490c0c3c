/** Returns the chat part of a profile. Profiles of other dialects have none; they get plain chat without extensions. */

import type { ChatProfile, Settings } from "../../../base/events/index.ts";

const PLAIN: ChatProfile = {
  reasoningFields: [],
  reasoningRequired: "never",
  thinkingSwitch: "none",
  sendEffort: false,
  maxTokensField: "max_tokens",
  userAfterTool: true,
  sendUsageOption: true,
  sendStrict: false,
};

export function chatOf(settings: Settings): ChatProfile {
  return settings.profile.chat ?? PLAIN;
}
