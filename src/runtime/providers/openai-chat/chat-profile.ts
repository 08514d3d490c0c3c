/**
 * The chat part of a profile. A profile of another dialect has none, and then nothing beyond plain chat is known.
 */

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
