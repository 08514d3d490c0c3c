/** How endpoints of the Anthropic Messages dialect behave. This is data; every field gives its evidence. */

import type { Profile } from "../../../base/events/index.ts";

const MESSAGES: Profile = {
  name: "anthropic",
  dialect: "anthropic-messages",
  responseForm: "blocks",
  itemIds: "omit",
  maxItemIdLength: 64,
  maxCallIdLength: 64,
  callIdPattern: "^[a-zA-Z0-9_-]+$",
  callIdsRepeat: false,
  reasoningContent: "verbatim",
  reasoningPayload: "required",
  prefixBound: false,
  sendInclude: false,
  sendStore: false,
  sendPromptCacheKey: false,
  hostedOmit: [],
  evidence: {
    responseForm: "§3: blocks of one message",
    itemIds: "§3: blocks have no ids of their own",
    maxItemIdLength: "§3: not used",
    maxCallIdLength: "C09",
    callIdPattern: "C09",
    callIdsRepeat: "assumed",
    reasoningContent: "C01, C12",
    reasoningPayload: "C03, C14",
    prefixBound: "C04: by model, see capabilities",
    sendInclude: "§3: no such parameter",
    sendStore: "§3: no such parameter",
    sendPromptCacheKey: "§3: no such parameter",
    hostedOmit: "§3: server blocks are part of the message and go back with it",
  },
};

export const MESSAGES_PROFILES = {
  anthropic: MESSAGES,
  /** Always checks the prefix, whatever the model's name: for gateways in front of newer Claude models. */
  "anthropic-bound": {
    ...MESSAGES,
    name: "anthropic-bound",
    prefixBound: true,
    evidence: { ...MESSAGES.evidence, prefixBound: "C04" },
  },
  /** DeepSeek's Anthropic format: its thinking has no signature but must still be sent back (V02). */
  "deepseek-messages": {
    ...MESSAGES,
    name: "deepseek-messages",
    reasoningPayload: "optional",
    evidence: { ...MESSAGES.evidence, reasoningPayload: "V02" },
  },
} satisfies Readonly<Record<string, Profile>>;
