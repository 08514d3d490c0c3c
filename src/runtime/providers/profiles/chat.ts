/** How chat-completions endpoints depart from OpenAI's. This is data; every field gives its evidence. */

import type { ChatProfile, Profile } from "../../../base/events/index.ts";

/**
 * At home, an id is mapped only if the endpoint is known to refuse it: LiteLLM's ids carry a signature (litellm#16895).
 */
const ANY_LENGTH = Number.MAX_SAFE_INTEGER;

const OPENAI: ChatProfile = {
  reasoningFields: [],
  fieldsApart: true,
  reasoningRequired: "never",
  thinkingSwitch: "none",
  sendEffort: true,
  maxTokensField: "max_completion_tokens",
  userAfterTool: true,
  sendUsageOption: true,
  sendStrict: true,
};

/** The evidence for a chat field is under `chat.<field>`. */
const EVIDENCE: Readonly<Record<string, string>> = {
  responseForm: "§4: one message",
  itemIds: "§4: no items, no ids",
  maxItemIdLength: "§4: not used",
  maxCallIdLength: "no report of a limit",
  callIdsRepeat: "assumed",
  reasoningContent: "V06",
  reasoningPayload: "V06: readable text, no payload",
  prefixBound: "no report",
  sendInclude: "§4: no such parameter",
  sendStore: "§4: not needed",
  sendPromptCacheKey: "assumed",
  hostedOmit: "§4: no such items",
  "chat.reasoningFields": "§4: OpenAI's types have no reasoning field",
  "chat.fieldsApart": "V06: one thought may come in several fields",
  "chat.reasoningRequired": "§4",
  "chat.thinkingSwitch": "§4",
  "chat.sendEffort": "S08",
  "chat.maxTokensField": "S08",
  "chat.userAfterTool": "assumed",
  "chat.sendUsageOption": "§4",
  "chat.sendStrict": "S13",
};

function chatProfile<const Name extends string>(
  name: Name,
  departs: Partial<ChatProfile> = {},
  evidence: Readonly<Record<string, string>> = {},
  general: Partial<Omit<Profile, "name">> = {},
): Profile & { readonly name: Name } {
  return {
    name,
    dialect: "openai-chat",
    responseForm: "message",
    itemIds: "omit",
    maxItemIdLength: 64,
    maxCallIdLength: ANY_LENGTH,
    callIdsRepeat: false,
    reasoningContent: "verbatim",
    reasoningPayload: "optional",
    prefixBound: false,
    sendInclude: false,
    sendStore: false,
    sendPromptCacheKey: false,
    hostedOmit: [],
    ...general,
    chat: { ...OPENAI, ...departs },
    evidence: {
      ...EVIDENCE,
      ...Object.fromEntries(Object.keys(departs).map((field) => [`chat.${field}`, "assumed"])),
      ...evidence,
    },
  };
}

/** The common settings of servers that offer this dialect in addition to their own. */
const COMPATIBLE = {
  sendEffort: false,
  maxTokensField: "max_tokens",
  sendStrict: false,
} as const satisfies Partial<ChatProfile>;

/** For endpoints that know three efforts. */
export const LOW_TO_HIGH = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

const PROFILES = [
  chatProfile("openai-chat", {}, { maxCallIdLength: "T05" }, { maxCallIdLength: 64 }),
  chatProfile(
    "deepseek",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning_content"],
      reasoningRequired: "with_tools",
      thinkingSwitch: "thinking",
      sendEffort: true,
      effortWords: { minimal: "low", low: "low", medium: "high", high: "high", xhigh: "max", max: "max" },
    },
    {
      "chat.reasoningFields": "V02",
      "chat.reasoningRequired":
        "V02; its guide as quoted in bojieli/ai-agent-book#982; openclaw#73417, vercel/ai#14729",
      "chat.thinkingSwitch": "V02, pawwork#250",
      "chat.sendEffort": "its guide to the thinking mode (Kilo-Org/kilocode#9512)",
      "chat.effortWords": "the same: high and max, low and medium are taken for high",
    },
  ),
  chatProfile(
    "deepseek-old",
    { ...COMPATIBLE, userAfterUser: false },
    {
      "chat.reasoningFields": "V03",
      "chat.userAfterUser": "its 400: does not support successive user or assistant messages",
    },
  ),
  chatProfile(
    "moonshot",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning_content"],
      reasoningRequired: "calls",
      thinkingSwitch: "thinking",
    },
    {
      "chat.reasoningFields": "V01",
      "chat.reasoningRequired": "V01",
      "chat.thinkingSwitch": "V01",
      callIdsRepeat: "T07: functions.name:0",
    },
    { callIdsRepeat: true },
  ),
  chatProfile(
    "groq",
    { ...COMPATIBLE, reasoningFields: ["reasoning"] },
    { "chat.reasoningFields": "V05, V06" },
  ),
  chatProfile(
    "mistral",
    {
      ...COMPATIBLE,
      reasoningFields: ["content_thinking"],
      userAfterTool: false,
      sendUsageOption: false,
      sendEffort: true,
      effortWords: { none: "none", low: "high", medium: "high", high: "high", xhigh: "high", max: "high" },
    },
    {
      "chat.reasoningFields": "V04",
      "chat.sendEffort": "@mistralai/mistralai 2.7.0",
      "chat.effortWords": "@mistralai/mistralai 2.7.0: none and high",
      "chat.userAfterTool": "code 3230 (later additions)",
      maxCallIdLength: "T05",
      callIdPattern: "T05: nine letters or digits",
    },
    { maxCallIdLength: 9, callIdPattern: "^[a-zA-Z0-9]{9}$" },
  ),
  chatProfile(
    "openrouter",
    { ...COMPATIBLE, reasoningFields: ["reasoning_details"], thinkingSwitch: "reasoning" },
    { "chat.reasoningFields": "V08", maxCallIdLength: "T05: OpenAI stands behind it" },
    { maxCallIdLength: 64 },
  ),
  chatProfile(
    "xai-chat",
    { ...COMPATIBLE, reasoningFields: [] },
    { "chat.reasoningFields": "V06: given, not known to be taken back" },
  ),
  chatProfile(
    "zai",
    { ...COMPATIBLE, reasoningFields: ["reasoning_content"], thinkingSwitch: "thinking" },
    { "chat.reasoningFields": "V09", "chat.thinkingSwitch": "V09" },
  ),
  chatProfile(
    "qwen",
    { ...COMPATIBLE, reasoningFields: ["reasoning_content"], thinkingSwitch: "enable_thinking" },
    { "chat.reasoningFields": "V06" },
  ),
  /** Ollama, llama.cpp, LM Studio: they return reasoning text and ignore unknown fields. */
  chatProfile(
    "local",
    { ...COMPATIBLE, reasoningFields: ["reasoning_content", "reasoning"] },
    { "chat.reasoningFields": "V06" },
  ),
  chatProfile("vllm", { ...COMPATIBLE, reasoningFields: ["reasoning"] }, { "chat.reasoningFields": "V06" }),
  chatProfile(
    "minimax",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning_details"],
      thinkingOff: "never",
      showThoughts: { field: "reasoning_split", value: true },
    },
    {
      "chat.reasoningFields": "Novita's guide to MiniMax M2",
      "chat.showThoughts": "assumed: the parameter was not verified",
    },
  ),
  chatProfile(
    "cerebras",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning"],
      keepThoughts: { field: "clear_thinking", value: false },
      sendEffort: true,
      effortWords: { none: "none", ...LOW_TO_HIGH },
      maxTokensField: "max_completion_tokens",
    },
    {
      "chat.reasoningFields": "its guide to reasoning: in reasoning, not in reasoning_content",
      "chat.keepThoughts": "types of its client: clear_thinking, whose default is not stated",
      "chat.sendEffort": "its guide to reasoning",
      "chat.effortWords": "its guide to reasoning: none, low, medium, high",
    },
  ),
  chatProfile(
    "together",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning", "reasoning_content"],
      thinkingSwitch: "reasoning",
      sendEffort: true,
      effortWords: LOW_TO_HIGH,
    },
    {
      "chat.reasoningFields": "V06: some of its models give the one, some the other",
      "chat.thinkingSwitch": "assumed",
      "chat.sendEffort": "types of its client",
      "chat.effortWords": "assumed",
    },
  ),
  chatProfile(
    "fireworks",
    {
      ...COMPATIBLE,
      reasoningFields: ["reasoning_content"],
      keepThoughts: { field: "reasoning_history", value: "preserved" },
      sendEffort: true,
      effortWords: { none: "none", ...LOW_TO_HIGH },
    },
    {
      "chat.reasoningFields": "docs.fireworks.ai/guides/reasoning",
      "chat.keepThoughts": "docs.fireworks.ai/guides/reasoning; @ai-sdk/fireworks",
      "chat.sendEffort": "docs.fireworks.ai/guides/reasoning",
      "chat.effortWords": "docs.fireworks.ai/guides/reasoning",
    },
  ),
  chatProfile(
    "litellm",
    { ...COMPATIBLE, reasoningFields: ["reasoning_content", "thinking_blocks"], sendEffort: true },
    {
      "chat.reasoningFields": "assumed: both are in its answers",
      "chat.sendEffort": "assumed: translated for each provider",
      maxCallIdLength: "BerriAI/litellm#16895: Gemini's signature stands in the id",
    },
  ),
  chatProfile(
    "copilot-chat",
    { ...COMPATIBLE, reasoningFields: ["reasoning_opaque", "reasoning_text"] },
    { "chat.reasoningFields": "sst/opencode#4468, #8900" },
  ),
  /** For unknown endpoints: sends nothing beyond plain chat. */
  chatProfile("generic-chat", COMPATIBLE),
];

type ChatProfileName = (typeof PROFILES)[number]["name"];

export const CHAT_PROFILES = Object.fromEntries(
  PROFILES.map((profile) => [profile.name, profile]),
) as Readonly<Record<ChatProfileName, Profile>>;
