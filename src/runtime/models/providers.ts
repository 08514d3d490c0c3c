/**
 * The endpoints that models can be named for: their address, the variable with their key, and how they depart from
 * their dialect. Data, not code; users add their own (`providers` in the config file).
 */

import type { Profile } from "../providers/index.ts";

/** An endpoint that models can be named for. */
export interface Provider {
  readonly name: string;
  /** The name of a known profile, or a custom one. It determines the dialect. */
  readonly profile: string | Profile;
  /** With `/v1` for the OpenAI dialects, without for Anthropic's. If absent, the user must supply it. */
  readonly baseUrl?: string | undefined;
  /** The environment variable that overrides the base URL. */
  readonly baseUrlVariable?: string | undefined;
  /** The environment variable with the API key. */
  readonly keyVariable?: string | undefined;
  /** True for a local server, which needs no key. */
  readonly keyOptional?: boolean | undefined;
  /** The header that carries the key, if it is not the one of the dialect. */
  readonly keyHeader?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The profile has the same name. Address, key variable, and the variable that overrides the address. */
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

/** Local servers, which need no key. */
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

/** A local proxy, which may need a key. */
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

/** The providers that `modelFrom` and `-m` know, by name. The order is that of docs/providers.md. */
export const PROVIDERS: Readonly<Record<string, Provider>> = Object.fromEntries(
  [...hosted.slice(0, 3), AZURE, ...hosted.slice(3), ...local, LITELLM].map((provider) => [
    provider.name,
    provider,
  ]),
);

/** Whether its key is in the environment. */
export function hasKey({ keyVariable }: Provider): boolean {
  return keyVariable !== undefined && (process.env[keyVariable] ?? "") !== "";
}

/** The base URL from the environment; an empty variable counts as unset. */
export function urlFromEnvironment({ baseUrlVariable }: Provider): string | undefined {
  return (baseUrlVariable === undefined ? undefined : process.env[baseUrlVariable]) || undefined;
}
