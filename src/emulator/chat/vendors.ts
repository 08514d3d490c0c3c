/**
 * How the vendors behind `POST /v1/chat/completions` differ, per model id. Data, not code; the evidence is named by its
 * entry in failures.md or by the public thread that quotes it.
 */

/** Whose form an answer has. `compatible`: OpenAI's, with a field for reasoning and nothing else of its own. */
export type Vendor = "openai" | "deepseek" | "kimi" | "mistral" | "groq" | "openrouter" | "compatible";

export interface ChatTraits {
  readonly vendor: Vendor;
  /** Where its reasoning is shown (V06). `null`: it reasons, if at all, without showing anything. */
  readonly shows: "reasoning_content" | "reasoning" | "reasoning_details" | "content" | null;
  /**
   * Which assistant messages must carry their reasoning when thinking is on: those with calls (V01), or all of a turn in
   * which a tool was called (V02). `refused`: it may not come back at all (V03, and whoever never showed any).
   */
  readonly back: "refused" | "optional" | "with-calls" | "in-tool-turns";
  /**
   * When it reads what comes back of earlier turns: always; those in which tools were called or carried (V02); never; or
   * only where the request sets this field (a path with dots). What it does not read it ignores without a word.
   */
  readonly reads: "always" | "tool-turns" | "never" | { readonly field: string; readonly value: unknown };
  /** What it takes as `thinking`: as its neighbours do, nothing but enabled (Kimi K2.7), nothing at all (Kimi K3). */
  readonly thinking: "switch" | "enabled" | "refused" | "always";
  /** Fields of the request it takes; others are refused. `null`: others are ignored. */
  readonly parameters: readonly string[] | null;
  /** Fields of an assistant message beyond role, content, name, tool_calls; others are refused. `null`: ignored. */
  readonly assistantFields: readonly string[] | null;
  /** `undefined`: `reasoning_effort` is an unknown field. */
  readonly efforts: readonly string[] | undefined;
  readonly maxTokens: readonly ("max_tokens" | "max_completion_tokens")[];
  /** Only the default temperature is accepted (gpt-5 and later). */
  readonly fixedTemperature: boolean;
  /** Which call ids it takes: at most 40 characters (agno#5382), exactly nine letters or digits (ironclaw#1241), any. */
  readonly callIds: "forty" | "nine" | "any";
  /** Which call ids it makes. Kimi's name the tool and count through the conversation (C09). */
  readonly makesCallIds: "sealed" | "nine" | "counted";
  /** `tool` is followed by `assistant` or `tool` only (code 3230); user and assistant alternate (old DeepSeek). */
  readonly roleOrder: "free" | "after-tool" | "alternating";
  /** Roles it knows; `developer` is OpenAI's own. */
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
  // `parsed`: the official helpers put it there and send it back; no report of a refusal was found.
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

/** Takes unknown fields, also `temperature` in thinking mode ("will not trigger an error", its guide). */
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

/** K2.5: earlier turns are not read. K2.6: when asked to keep them. K2.7 and K3: always, and they always think. */
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

/** V05: its own field comes back, `reasoning_content` is "unsupported". */
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

/** V08. Unknown fields are stripped before they reach the provider behind it. */
const openrouter: ChatTraits = {
  ...deepseek,
  vendor: "openrouter",
  shows: "reasoning_details",
  back: "optional",
  reads: "always",
  callIds: "forty",
  developerRole: true,
};

/** Servers that speak OpenAI's form and ignore what they do not know. */
const compatible: ChatTraits = {
  ...deepseek,
  vendor: "compatible",
  back: "optional",
  reads: "always",
  developerRole: true,
};

/** V09: cleared unless told otherwise. */
const glm: ChatTraits = { ...compatible, reads: { field: "thinking.clear_thinking", value: false } };

const qwen: ChatTraits = { ...compatible, reads: { field: "preserve_thinking", value: true } };

/** Thoughts in entries of their own with `reasoning_split`, else in front of the words, in `<think>`. */
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

/** 0.16 and later, with Qwen's template: `reasoning_content` is dropped in silence (vllm#38488). */
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

/** Names a client may know. Everything else is pure chat. */
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
