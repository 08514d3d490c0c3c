/**
 * How the vendors behind `POST /v1/chat/completions` differ, per model id. Data, not code. The evidence is an entry in
 * failures.md or the public thread that quotes it.
 */

/** The vendor whose form an answer has. `compatible`: OpenAI's form, plus a reasoning field and nothing else. */
export type Vendor = "openai" | "deepseek" | "kimi" | "mistral" | "groq" | "openrouter" | "compatible";

export interface ChatTraits {
  readonly vendor: Vendor;
  /** Where its reasoning is shown (V06). `null`: it shows none. */
  readonly shows: "reasoning_content" | "reasoning" | "reasoning_details" | "content" | null;
  /**
   * Which assistant messages must carry their reasoning while thinking is on: those with calls (V01), or all of a turn
   * in which a tool was called (V02). `refused`: it must not come back at all (V03, and vendors that show none).
   */
  readonly back: "refused" | "optional" | "with-calls" | "in-tool-turns";
  /**
   * When it reads reasoning from earlier turns: always; only in turns in which tools were called or carried (V02);
   * never; or only if the request sets this field (a dotted path). It silently ignores what it does not read.
   */
  readonly reads: "always" | "tool-turns" | "never" | { readonly field: string; readonly value: unknown };
  /**
   * What it accepts as `thinking`: on or off, only enabled (Kimi K2.7), or nothing (Kimi K3). `always`: it cannot be
   * switched off.
   */
  readonly thinking: "switch" | "enabled" | "refused" | "always";
  /** The request fields it accepts; others are refused. `null`: others are ignored. */
  readonly parameters: readonly string[] | null;
  /** Fields of an assistant message beyond role, content, name and tool_calls; others are refused. `null`: ignored. */
  readonly assistantFields: readonly string[] | null;
  /** `undefined`: `reasoning_effort` is an unknown field. */
  readonly efforts: readonly string[] | undefined;
  readonly maxTokens: readonly ("max_tokens" | "max_completion_tokens")[];
  /** Only the default temperature is accepted (gpt-5 and later). */
  readonly fixedTemperature: boolean;
  /**
   * Which call ids it accepts: at most 40 characters (agno#5382), exactly nine letters or digits (ironclaw#1241), any.
   */
  readonly callIds: "forty" | "nine" | "any";
  /** Which call ids it makes. Kimi's contain the tool's name and count through the conversation (C09). */
  readonly makesCallIds: "sealed" | "nine" | "counted";
  /**
   * `after-tool`: only `assistant` or `tool` may follow `tool` (code 3230). `alternating`: user and assistant alternate
   * (old DeepSeek).
   */
  readonly roleOrder: "free" | "after-tool" | "alternating";
  /** Whether it knows OpenAI's `developer` role. */
  readonly developerRole: boolean;
}

function namesIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** completions.d.ts of openai 7.53: ChatCompletionCreateParamsBase. */
const openaiParameters = namesIn(`
  audio frequency_penalty function_call functions logit_bias logprobs
  max_completion_tokens max_tokens messages metadata modalities model moderation n
  parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options
  prompt_cache_retention reasoning_effort response_format safety_identifier seed
  service_tier stop store stream stream_options temperature tool_choice tools top_logprobs
  top_p user verbosity web_search_options
`);

const openai: ChatTraits = {
  vendor: "openai",
  shows: null,
  back: "refused",
  reads: "always",
  thinking: "switch",
  parameters: openaiParameters,
  // `parsed`: the official helpers add it and send it back; no report of a refusal was found.
  assistantFields: ["refusal", "audio", "function_call", "annotations", "parsed"],
  efforts,
  maxTokens: ["max_completion_tokens"],
  fixedTemperature: true,
  callIds: "forty",
  makesCallIds: "sealed",
  roleOrder: "free",
  developerRole: true,
};

/** gpt-4.1 and older: no effort, any temperature, both names of the limit. */
const openaiPlain: ChatTraits = {
  ...openai,
  efforts: undefined,
  maxTokens: ["max_completion_tokens", "max_tokens"],
  fixedTemperature: false,
};

/** Accepts unknown fields, and even `temperature` in thinking mode ("will not trigger an error", its guide). */
const deepseek: ChatTraits = {
  vendor: "deepseek",
  shows: "reasoning_content",
  back: "in-tool-turns",
  reads: "tool-turns",
  thinking: "switch",
  parameters: null,
  assistantFields: null,
  efforts,
  maxTokens: ["max_tokens", "max_completion_tokens"],
  fixedTemperature: false,
  callIds: "any",
  makesCallIds: "sealed",
  roleOrder: "free",
  developerRole: false,
};

const deepseekOld: ChatTraits = { ...deepseek, back: "refused", roleOrder: "alternating" };

/** K2.5 does not read earlier turns. K2.6 does if asked to keep them. K2.7 and K3 always do, and always think. */
const kimi25: ChatTraits = {
  ...deepseek,
  vendor: "kimi",
  back: "with-calls",
  reads: "never",
  makesCallIds: "counted",
};
const kimi: ChatTraits = { ...kimi25, reads: { field: "thinking.keep", value: "all" } };
const kimi27: ChatTraits = { ...kimi25, reads: "always", thinking: "enabled" };
const kimi3: ChatTraits = { ...kimi27, thinking: "refused", efforts: ["low", "high", "max"] };

const mistralParameters = namesIn(`
  frequency_penalty guardrails max_tokens messages metadata model n parallel_tool_calls
  prediction presence_penalty prompt_cache_key prompt_mode random_seed reasoning_effort
  response_format safe_prompt stop stream stream_options temperature tool_choice tools
  top_p
`);

/** Pydantic with extra="forbid" at every level: V04, and `max_completion_tokens` too (eca#231). */
const mistral: ChatTraits = {
  vendor: "mistral",
  shows: "content",
  back: "optional",
  reads: "always",
  thinking: "switch",
  parameters: mistralParameters,
  assistantFields: ["prefix"],
  efforts: ["none", "high"],
  maxTokens: ["max_tokens"],
  fixedTemperature: false,
  callIds: "nine",
  makesCallIds: "nine",
  roleOrder: "after-tool",
  developerRole: false,
};

/** V05: accepts its own field back; `reasoning_content` is "unsupported". */
const groq: ChatTraits = {
  ...openaiPlain,
  vendor: "groq",
  shows: "reasoning",
  back: "optional",
  parameters: [
    ...openaiParameters.filter((name) => !name.startsWith("prompt_cache")),
    "citation_options",
    "compound_custom",
    "disable_tool_validation",
    "documents",
    "include_reasoning",
    "reasoning_format",
    "search_settings",
  ],
  assistantFields: ["reasoning", "function_call", "tool_call_id"],
  efforts: ["none", "default", "low", "medium", "high"],
  callIds: "any",
};

/** V08. Strips unknown fields before they reach the provider behind it. */
const openrouter: ChatTraits = {
  ...deepseek,
  vendor: "openrouter",
  shows: "reasoning_details",
  back: "optional",
  reads: "always",
  callIds: "forty",
  developerRole: true,
};

/** Servers that use OpenAI's form and ignore unknown fields. */
const compatible: ChatTraits = {
  ...deepseek,
  vendor: "compatible",
  back: "optional",
  reads: "always",
  developerRole: true,
};

/** V09: cleared unless the request says otherwise. */
const glm: ChatTraits = { ...compatible, reads: { field: "thinking.clear_thinking", value: false } };

const qwen: ChatTraits = { ...compatible, reads: { field: "preserve_thinking", value: true } };

/** With `reasoning_split`, thoughts are separate entries; otherwise they precede the text, in `<think>`. */
const minimax: ChatTraits = { ...compatible, shows: "reasoning_details", thinking: "always" };

const cerebras: ChatTraits = {
  ...compatible,
  shows: "reasoning",
  reads: { field: "clear_thinking", value: false },
};

const fireworks: ChatTraits = {
  ...compatible,
  reads: { field: "reasoning_history", value: "preserved" },
};

/** 0.16 and later, with Qwen's template: `reasoning_content` is dropped silently (vllm#38488). */
const vllm: ChatTraits = {
  ...compatible,
  shows: "reasoning",
  reads: { field: "chat_template_kwargs.preserve_thinking", value: true },
};

const documented: Readonly<Record<string, ChatTraits>> = {
  "emu-chat": openai,
  "emu-chat-plain": openaiPlain,
  "emu-deepseek": deepseek,
  "emu-deepseek-old": deepseekOld,
  "emu-kimi": kimi,
  "emu-kimi-k2.5": kimi25,
  "emu-kimi-k2.6": kimi,
  "emu-kimi-k2.7": kimi27,
  "emu-kimi-k3": kimi3,
  "emu-mistral": mistral,
  "emu-groq": groq,
  "emu-router": openrouter,
  "emu-glm": glm,
  "emu-qwen": qwen,
  "emu-minimax": minimax,
  "emu-cerebras": cerebras,
  "emu-fireworks": fireworks,
  "emu-vllm": vllm,
};

/** Names a client may know. All others are plain chat. */
const families: readonly (readonly [RegExp, ChatTraits])[] = [
  [/^deepseek-reasoner/, deepseekOld],
  [/^deepseek/, deepseek],
  [/^kimi-k2\.5/, kimi25],
  [/^kimi-k2\.[7-9]/, kimi27],
  [/^kimi-k[3-9]/, kimi3],
  [/^kimi/, kimi],
  [/^glm-/, glm],
  [/^minimax/i, minimax],
  [/^(?:mistral|magistral|ministral|devstral|codestral)/, mistral],
  [/^(?:gpt-4|gpt-3|chatgpt-4)/, openaiPlain],
  [/^(?:groq|qwen)\//, groq],
  [/^qwen/, qwen],
  [/^openrouter\//, openrouter],
];

export function chatTraitsOf(model: string): ChatTraits {
  const own = Object.hasOwn(documented, model) ? documented[model] : undefined;
  return own ?? families.find(([pattern]) => pattern.test(model))?.[1] ?? openai;
}
