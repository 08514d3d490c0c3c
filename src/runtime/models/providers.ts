/**
 * The endpoints a model can be asked for by name: where each is, which variable holds its key, how it departs from its
 * dialect. Data, not code; a user's own stand beside them (`providers` in the config file).
 */

import type { Profile } from "../providers/index.ts";

export interface Provider {
  readonly name: string;
  /** A known profile's name, or one of the user's own; it names the dialect. */
  readonly profile: string | Profile;
  /** With `/v1` for the OpenAI dialects, without for Anthropic's. Absent: it must be given. */
  readonly baseUrl?: string | undefined;
  /** The environment variable that overrides the base URL. */
  readonly baseUrlVariable?: string | undefined;
  readonly keyVariable?: string | undefined;
  /** A server of one's own needs none. */
  readonly keyOptional?: boolean | undefined;
  readonly keyHeader?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** As the profile of the same name: the address, its key, and the variable that overrides the address. */
const HOSTED: readonly (readonly [name: string, url: string, key: string, urlVariable?: string])[] = [
  ["openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  ["openai-chat", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  ["anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  ["openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"],
  ["xai", "https://api.x.ai/v1", "XAI_API_KEY"],
  ["xai-chat", "https://api.x.ai/v1", "XAI_API_KEY"],
  ["deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"],
  ["deepseek-responses", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"],
  ["deepseek-messages", "https://api.deepseek.com/anthropic", "DEEPSEEK_API_KEY"],
  ["groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"],
  ["mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"],
  ["moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"],
  ["zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"],
  ["qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"],
  ["minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY"],
  ["cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"],
  ["together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"],
  ["fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"],
];

/** Servers of one's own: they want no key. */
const LOCAL: readonly (readonly [name: string, profile: string, port: number, urlVariable: string])[] = [
  ["ollama", "local", 11_434, "OLLAMA_BASE_URL"],
  ["llamacpp", "local", 8080, "LLAMACPP_BASE_URL"],
  ["lmstudio", "open-responses", 1234, "LMSTUDIO_BASE_URL"],
  ["vllm", "vllm", 8000, "VLLM_BASE_URL"],
];

const AZURE: Provider = {
  name: "azure",
  profile: "azure",
  baseUrlVariable: "AZURE_OPENAI_BASE_URL",
  keyVariable: "AZURE_OPENAI_API_KEY",
  keyHeader: "api-key",
};

/** A proxy of one's own, which may want a key. */
const LITELLM: Provider = {
  name: "litellm",
  profile: "litellm",
  baseUrl: "http://127.0.0.1:4000/v1",
  baseUrlVariable: "LITELLM_BASE_URL",
  keyVariable: "LITELLM_API_KEY",
  keyOptional: true,
};

const hosted = HOSTED.map(([name, baseUrl, keyVariable, baseUrlVariable]): Provider => ({
  name,
  profile: name,
  baseUrl,
  baseUrlVariable,
  keyVariable,
}));

const local = LOCAL.map(([name, profile, port, baseUrlVariable]): Provider => ({
  name,
  profile,
  baseUrl: `http://127.0.0.1:${port}/v1`,
  baseUrlVariable,
  keyOptional: true,
}));

/** In the order of the documents: Azure behind those it is like. */
export const PROVIDERS: Readonly<Record<string, Provider>> = Object.fromEntries(
  [...hosted.slice(0, 3), AZURE, ...hosted.slice(3), ...local, LITELLM].map((provider) => [
    provider.name,
    provider,
  ]),
);

/** Its key is in the environment. */
export function hasKey({ keyVariable }: Provider): boolean {
  return keyVariable !== undefined && (process.env[keyVariable] ?? "") !== "";
}

/** The base URL that the environment sets instead; an empty variable is as good as none. */
export function urlFromEnvironment({ baseUrlVariable }: Provider): string | undefined {
  return (baseUrlVariable === undefined ? undefined : process.env[baseUrlVariable]) || undefined;
}
