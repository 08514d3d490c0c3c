/**
 * How vendors of `openai-chat` differ in what they accept back. This is data, for histories without one of our
 * profiles.
 */

import type { ChatTraits } from "./facts.ts";

const OPENAI: ChatTraits = {
  reasoningFields: [],
  reasoningRequired: "never",
  unknownField: "openai",
  userAfterTool: true,
  maxCallIdLength: 40,
};

const LENIENT: ChatTraits = {
  ...OPENAI,
  unknownField: "ignored",
  maxCallIdLength: Number.POSITIVE_INFINITY,
};

export const CHAT_VENDORS = {
  openai: OPENAI,
  deepseek: { ...LENIENT, reasoningFields: ["reasoning_content"], reasoningRequired: "with_tools" },
  "deepseek-old": { ...LENIENT, unknownField: "deepseek-old" },
  kimi: { ...LENIENT, reasoningFields: ["reasoning_content"], reasoningRequired: "calls" },
  mistral: {
    ...LENIENT,
    reasoningFields: ["content_thinking"],
    unknownField: "mistral",
    userAfterTool: false,
    nineCharacterCallIds: true,
  },
  groq: { ...LENIENT, reasoningFields: ["reasoning"], unknownField: "groq" },
  openrouter: { ...LENIENT, reasoningFields: ["reasoning", "reasoning_details"], maxCallIdLength: 40 },
} as const satisfies Readonly<Record<string, ChatTraits>>;
