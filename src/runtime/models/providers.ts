/**
 * The endpoints a model can be asked for by name: where each is, which variable holds its key, how it departs from its
 * dialect. Data, not code; a user's own stand beside them (`providers` in the config file).
 *
 * @module
 */

import type { Profile } from "../providers/index.ts";

export interface Provider {
  readonly name: string;
  /** A known profile's name, or one of the user's own; it names the dialect. */
  readonly profile: string | Profile;
  /** With `/v1` for the OpenAI dialects, without for Anthropic's. Absent: it must be given. */
  readonly baseUrl?: string;
  /** The environment variable that overrides the base URL. */
  readonly baseUrlVariable?: string;
  readonly keyVariable?: string;
  /** A server of one's own needs none. */
  readonly keyOptional?: boolean;
  readonly keyHeader?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LOCAL = { keyOptional: true } as const;

const KNOWN: readonly Provider[] = [
  {
    name: "openai",
    profile: "openai",
    baseUrl: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    keyVariable: "OPENAI_API_KEY",
  },
  {
    name: "openai-chat",
    profile: "openai-chat",
    baseUrl: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    keyVariable: "OPENAI_API_KEY",
  },
  {
    name: "anthropic",
    profile: "anthropic",
    baseUrl: "https://api.anthropic.com",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: "ANTHROPIC_API_KEY",
  },
  {
    name: "azure",
    profile: "azure",
    baseUrlVariable: "AZURE_OPENAI_BASE_URL",
    keyVariable: "AZURE_OPENAI_API_KEY",
    keyHeader: "api-key",
  },
  {
    name: "openrouter",
    profile: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
  },
  { name: "xai", profile: "xai", baseUrl: "https://api.x.ai/v1", keyVariable: "XAI_API_KEY" },
  { name: "xai-chat", profile: "xai-chat", baseUrl: "https://api.x.ai/v1", keyVariable: "XAI_API_KEY" },
  {
    name: "deepseek",
    profile: "deepseek",
    baseUrl: "https://api.deepseek.com/v1",
    keyVariable: "DEEPSEEK_API_KEY",
  },
  {
    name: "deepseek-responses",
    profile: "deepseek-responses",
    baseUrl: "https://api.deepseek.com/v1",
    keyVariable: "DEEPSEEK_API_KEY",
  },
  {
    name: "deepseek-messages",
    profile: "deepseek-messages",
    baseUrl: "https://api.deepseek.com/anthropic",
    keyVariable: "DEEPSEEK_API_KEY",
  },
  { name: "groq", profile: "groq", baseUrl: "https://api.groq.com/openai/v1", keyVariable: "GROQ_API_KEY" },
  {
    name: "mistral",
    profile: "mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
  },
  {
    name: "moonshot",
    profile: "moonshot",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
  },
  { name: "zai", profile: "zai", baseUrl: "https://api.z.ai/api/paas/v4", keyVariable: "ZAI_API_KEY" },
  {
    name: "qwen",
    profile: "qwen",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
  },
  {
    name: "ollama",
    profile: "local",
    baseUrl: "http://127.0.0.1:11434/v1",
    baseUrlVariable: "OLLAMA_BASE_URL",
    ...LOCAL,
  },
  {
    name: "llamacpp",
    profile: "local",
    baseUrl: "http://127.0.0.1:8080/v1",
    baseUrlVariable: "LLAMACPP_BASE_URL",
    ...LOCAL,
  },
  {
    name: "lmstudio",
    profile: "open-responses",
    baseUrl: "http://127.0.0.1:1234/v1",
    baseUrlVariable: "LMSTUDIO_BASE_URL",
    ...LOCAL,
  },
  {
    name: "vllm",
    profile: "vllm",
    baseUrl: "http://127.0.0.1:8000/v1",
    baseUrlVariable: "VLLM_BASE_URL",
    ...LOCAL,
  },
];

export const PROVIDERS: Readonly<Record<string, Provider>> = Object.fromEntries(
  KNOWN.map((provider) => [provider.name, provider]),
);
