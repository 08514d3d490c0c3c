/** The known capabilities of each model. This is data only; unknown models get the defaults of their dialect. */

import type { Capabilities, ChatProfile, Dialect, Profile } from "../../base/events/index.ts";
import { LOW_TO_HIGH } from "./profiles/chat.ts";

interface ModelFacts extends Partial<Capabilities> {
  readonly match: RegExp;
  /** Reasoning is bound to the content before it (failures.md C04). */
  readonly prefixBound?: boolean;
}

/**
 * The Responses dialect keeps the reasoning history for every model, whatever its name (requirements Q5, Q6). A model
 * that refuses it does so once, and healing remembers that (class CAP). Reasoning models refuse sampling parameters
 * (S08).
 */
const RESPONSES: readonly ModelFacts[] = [
  { match: /^(?:o\d|gpt-[5-9])/, sampling: false },
  // A size that is too small would compact a session too early, so the sizes of later models are left unknown.
  { match: /^gpt-5(?:$|-|\.[1-5](?:$|-))/, contextTokens: 400_000 },
  { match: /^o\d/, contextTokens: 200_000 },
  { match: /^gpt-4\.1/, contextTokens: 1_047_576 },
  { match: /^gpt-4o/, contextTokens: 128_000 },
];

/**
 * Sources: names and thinking modes from @anthropic-ai/sdk 1.8.0 messages.d.ts 3910, 4272; binding from C04. An unknown
 * name is treated as a new model.
 */
const MESSAGES: readonly ModelFacts[] = [
  { match: /^/, thinking: "adaptive", maxOutputTokens: 32_000 },
  { match: /^claude-(?:3|(?:opus|sonnet|haiku)-4(?:$|-[0-5](?:$|-)|-\d{8}))/, contextTokens: 200_000 },
  { match: /^claude-(?:opus|sonnet|fable|mythos)-5/, contextTokens: 1_000_000 },
  { match: /^claude-3-[05]|^claude-3-(?:opus|sonnet|haiku)/, thinking: "none", maxOutputTokens: 4096 },
  { match: /^claude-3-7|^claude-(?:opus|sonnet|haiku)-4(?:$|-[0-5](?:$|-)|-\d{8})/, thinking: "budget" },
  { match: /^claude-(?:fable|mythos)-5-[1-9]|^claude-(?:opus|sonnet|haiku)-5-5/, prefixBound: true },
  // "deprecated for this model": Opus 4.7 and later refuse sampling (Anthropic's model pages).
  { match: /^claude-opus-4-[78]|^claude-(?:opus|sonnet|haiku|fable|mythos)-5/, sampling: false },
  // `"thinking.type.disabled" is not supported for this model` (C18: androoAGI/starnet#32, stdapi-ai/stdapi.ai#284).
  { match: /^claude-opus-5-5|^claude-(?:fable|mythos)-5/, thinkingOff: "never" },
  // The types mention it for Sonnet 5.5 (beta messages.d.ts 5466). Haiku 5.5 was not observed and is assumed to behave
  // the same.
  { match: /^claude-(?:sonnet|haiku)-5-5/, thinkingOff: "between_tools" },
  // Forced tools: from Anthropic's pages for 5.5 and Fable 5.1; no refusal was observed (C20).
  { match: /^claude-(?:opus|sonnet|haiku)-5-5|^claude-(?:fable|mythos)-5-[1-9]/, forcedTools: false },
  // C10: Fable 5.1 reads Opus 5 and, on the Claude API, Opus 5.5; neither reads Fable 5.1.
  { match: /^claude-fable-5-[1-9]/, readsThoughtsOf: "^claude-opus-5(?:-5)?(?:$|-\\d{8}$)" },
  // From Anthropic's page on preserved thinking: Sonnet 5.5 reads Sonnet 5, Opus 4.8 and Haiku 4.5, but not Opus 5,
  // Opus 5.5 or Fable.
  {
    match: /^claude-sonnet-5-5/,
    readsThoughtsOf: "^claude-(?:sonnet-5|opus-4-8|haiku-4-5)(?:$|-\\d{8}$)",
  },
  { match: /^emu-claude-bound/, prefixBound: true },
  { match: /^emu-claude-adaptive/, sampling: false },
  { match: /^emu-claude-(?:5\.5|between)/, prefixBound: true, sampling: false, forcedTools: false },
  { match: /^emu-claude-5\.5/, thinkingOff: "never", readsThoughtsOf: "^emu-claude-adaptive$" },
  { match: /^emu-claude-between/, thinkingOff: "between_tools", readsThoughtsOf: "^emu-claude$" },
  { match: /^emu-claude-plain/, thinking: "none" },
];

/**
 * How a model departs from its endpoint's profile. Custom profiles have other names, so these rows never apply to them.
 */
interface ChatModelFacts {
  readonly profiles: readonly string[];
  readonly match: RegExp;
  readonly departs: Partial<ChatProfile>;
  /** The source for every field in `departs`. */
  readonly evidence: string;
}

const keep = (field: string, value: string | boolean): Partial<ChatProfile> => ({
  keepThoughts: { field, value },
});

/** The model shows no thoughts and accepts none, so none are requested or sent back. */
const NOT_THINKING: Partial<ChatProfile> = {
  reasoningFields: [],
  reasoningRequired: "never",
  thinkingSwitch: "none",
  sendEffort: false,
};

/** Later rows win, field by field. */
const CHAT_MODELS: readonly ChatModelFacts[] = [
  {
    profiles: ["moonshot"],
    match: /^kimi-k2\.6|^emu-kimi$|^emu-kimi-k2\.6/,
    departs: keep("thinking.keep", "all"),
    evidence: "Moonshot's guide to thinking models; @ai-sdk/moonshotai",
  },
  {
    profiles: ["moonshot"],
    match: /^kimi-k2\.[7-9]|^emu-kimi-k2\.7/,
    // How it treats another model's calls is unknown, so they are sent without thoughts; if refused, healing decides.
    departs: { thinkingOff: "never", reasoningRequired: "never" },
    evidence: "Moonshot's guide as quoted in lemon07r/opencode-kimi-full#11; @ai-sdk/moonshotai",
  },
  {
    profiles: ["moonshot"],
    match: /^kimi-k[3-9]|^emu-kimi-k3/,
    departs: {
      thinkingOff: "never",
      thinkingSwitch: "none",
      reasoningRequired: "never",
      sendEffort: true,
      // `medium` maps to `high` as its documentation says; with effort `none` it still thinks, as little as it can.
      effortWords: {
        none: "low",
        minimal: "low",
        low: "low",
        medium: "high",
        high: "high",
        xhigh: "max",
        max: "max",
      },
      maxTokensField: "max_completion_tokens",
    },
    evidence: "Moonshot's guide to reasoning effort (lemon07r/opencode-kimi-full#11, hermes-agent#76427)",
  },
  {
    profiles: ["deepseek"],
    match: /^deepseek-chat/,
    departs: NOT_THINKING,
    evidence: "DeepSeek's list of models: the name of the mode without thinking",
  },
  {
    profiles: ["deepseek"],
    match: /^deepseek-reasoner/,
    departs: { ...NOT_THINKING, userAfterUser: false },
    evidence: "V03",
  },
  {
    profiles: ["groq", "vllm"],
    match: /gpt-oss|^emu-groq/,
    departs: { sendEffort: true, effortWords: LOW_TO_HIGH },
    evidence: "types of Groq's client; that gpt-oss takes low, medium and high is assumed",
  },
  {
    profiles: ["cerebras"],
    match: /gpt-oss/,
    // Its template drops the thoughts before the last answer, and thinking cannot be switched off.
    departs: { keepThoughts: undefined, effortWords: LOW_TO_HIGH },
    evidence: "Cerebras' guide to reasoning",
  },
  {
    profiles: ["groq"],
    match: /qwen/i,
    departs: {
      showThoughts: { field: "reasoning_format", value: "parsed" },
      sendEffort: true,
      effortWords: { none: "none", low: "default", medium: "default", high: "default" },
    },
    evidence: "types of Groq's client; that Qwen takes none and default, and parsed, is assumed",
  },
  {
    profiles: ["zai"],
    match: /^glm-(?:4\.[7-9]|[5-9])|^emu-glm/,
    departs: keep("thinking.clear_thinking", false),
    evidence: "V09: Z.AI's guide, cleared by default",
  },
  {
    profiles: ["qwen"],
    match: /^qwen(?:3\.(?:[6-9]|\d\d)|[4-9])|^emu-qwen/,
    departs: keep("preserve_thinking", true),
    evidence: "Alibaba's guide to deep thinking, listed models; @ai-sdk/alibaba",
  },
  {
    profiles: ["vllm"],
    match: /qwen|^emu-vllm/i,
    departs: keep("chat_template_kwargs.preserve_thinking", true),
    evidence: "Qwen's chat template: earlier turns lose their thoughts without it",
  },
];

const CHAT: readonly ModelFacts[] = [
  { match: /^(?:o\d|gpt-[5-9])/, sampling: false },
  { match: /^deepseek-reasoner/, sampling: false },
];

const FACTS: Readonly<Record<Dialect, readonly ModelFacts[]>> = {
  "openai-responses": RESPONSES,
  "anthropic-messages": MESSAGES,
  "openai-chat": CHAT,
};

const DEFAULTS: Capabilities = { reasoning: true, sampling: true, vision: true };

/** Returns a model's capabilities. Later rows win, and the caller's `override` wins over all of them. */
export function capabilitiesOf(
  dialect: Dialect,
  model: string,
  override: Partial<Capabilities> = {},
): Capabilities {
  let found: Capabilities = DEFAULTS;
  for (const { match, prefixBound: _prefixBound, ...facts } of FACTS[dialect]) {
    if (match.test(model)) found = { ...found, ...facts };
  }
  return { ...found, ...override };
}

export function profileFor(profile: Profile, model: string): Profile {
  if (profile.dialect === "openai-responses" && profile.sendInclude && !takesReasoningParameters(model)) {
    const evidence = { ...profile.evidence, sendInclude: "E11: by model" };
    return { ...profile, sendInclude: false, evidence };
  }
  if (profile.chat !== undefined) return chatProfileFor(profile, profile.chat, model);
  const bound = FACTS[profile.dialect].some(
    ({ match, prefixBound }) => prefixBound === true && match.test(model),
  );
  return bound && !profile.prefixBound
    ? { ...profile, prefixBound: true, evidence: { ...profile.evidence, prefixBound: "C04: by model" } }
    : profile;
}

function chatProfileFor(profile: Profile, chat: ChatProfile, model: string): Profile {
  const facts = CHAT_MODELS.filter(
    ({ profiles, match }) => profiles.includes(profile.name) && match.test(model),
  );
  if (facts.length === 0) return profile;
  const evidence = facts.flatMap(({ departs, evidence: why }) =>
    Object.keys(departs).map((field) => [`chat.${field}`, `by model: ${why}`]),
  );
  return {
    ...profile,
    chat: Object.assign({ ...chat }, ...facts.map(({ departs }) => departs)) as ChatProfile,
    evidence: { ...profile.evidence, ...Object.fromEntries(evidence) },
  };
}

/**
 * Whether a model accepts reasoning parameters. Older models refuse a request for a summary or for encrypted reasoning
 * (E11).
 */
export function takesReasoningParameters(model: string): boolean {
  return !/^(?:gpt-4|gpt-3|chatgpt-4|emu-plain)/.test(model);
}
