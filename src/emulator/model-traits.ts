/**
 * What each model id supports, by dialect. Data, not code. A documented id exists only in its own dialect; ids that
 * begin with "unknown" exist nowhere.
 */

import type { Switches } from "./switches.ts";

export type DialectName = "openai-responses" | "anthropic-messages" | "openai-chat";

/** How an emulated model behaves. */
export interface ModelTraits {
  /** Whether it thinks. */
  readonly reasoning: boolean;
  /** P14: a plain model refuses reasoning items. E11: it may refuse `include: ["reasoning.encrypted_content"]`. */
  readonly encryptedContent: boolean;
  /** S08: reasoning models refuse `temperature` and `top_p`. */
  readonly sampling: boolean;
  /** H06, C04: reasoning whose prefix changed is dropped silently or refused. */
  readonly prefixBound: boolean;
  /** Longer inputs are refused with context_length_exceeded. */
  readonly contextTokens: number;
}

const reasoner: ModelTraits = {
  reasoning: true,
  encryptedContent: true,
  sampling: false,
  prefixBound: false,
  contextTokens: 400_000,
};
const plain: ModelTraits = { ...reasoner, reasoning: false, encryptedContent: false, sampling: true };
const claude: ModelTraits = { ...reasoner, sampling: true, contextTokens: 200_000 };
const boundClaude: ModelTraits = { ...claude, prefixBound: true };
const plainClaude: ModelTraits = { ...claude, reasoning: false, encryptedContent: false };

const chat: ModelTraits = { ...reasoner, sampling: true, contextTokens: 128_000 };

const documented: Readonly<Record<DialectName, Readonly<Record<string, ModelTraits>>>> = {
  "openai-responses": {
    "emu-reasoner": reasoner,
    "emu-reasoner-mini": { ...reasoner, contextTokens: 16_000 },
    "emu-prefix-bound": { ...reasoner, prefixBound: true },
    "emu-plain": plain,
  },
  "anthropic-messages": {
    "emu-claude": claude,
    "emu-claude-bound": boundClaude,
    // They differ as described in messages/claude-models.ts.
    "emu-claude-adaptive": claude,
    "emu-claude-5.5": boundClaude,
    "emu-claude-between": boundClaude,
    "emu-claude-plain": plainClaude,
  },
  // Their vendors differ as described in chat/vendors.ts.
  "openai-chat": {
    "emu-chat": chat,
    "emu-chat-plain": { ...chat, reasoning: false },
    "emu-deepseek": chat,
    "emu-deepseek-old": chat,
    "emu-kimi": chat,
    "emu-kimi-k2.5": chat,
    "emu-kimi-k2.6": chat,
    "emu-kimi-k2.7": chat,
    "emu-kimi-k3": chat,
    "emu-mistral": chat,
    "emu-groq": chat,
    "emu-router": chat,
    "emu-glm": chat,
    "emu-qwen": chat,
    "emu-minimax": chat,
    "emu-cerebras": chat,
    "emu-fireworks": chat,
    "emu-vllm": chat,
  },
};

/** Undocumented ids, per dialect: clients test with the names they know. */
const others: Readonly<Record<DialectName, (model: string) => ModelTraits | undefined>> = {
  // Families known not to reason; a client may send their ids to test P14.
  "openai-responses": (model) => (/^(gpt-4|gpt-3|chatgpt-4)/.test(model) ? plain : reasoner),
  "anthropic-messages": (model) => {
    if (!model.startsWith("claude")) return undefined;
    if (/^claude-(2|instant|3-(?:5|opus|sonnet|haiku))/.test(model)) return plainClaude;
    return /^claude-(?:(?:opus|sonnet)-5-5|(?:fable|mythos)-5-[1-9])/.test(model) ? boundClaude : claude;
  },
  // `deepseek-chat` is the mode without thinking.
  "openai-chat": (model) =>
    /^(gpt-4|gpt-3|chatgpt-4|deepseek-chat)/.test(model) ? { ...chat, reasoning: false } : chat,
};

export const dialectNames = Object.keys(documented) as readonly DialectName[];

export function isDialectName(name: unknown): name is DialectName {
  return dialectNames.some((one) => one === name);
}

export function documentedModelsOf(dialect: DialectName): readonly string[] {
  return Object.keys(documented[dialect]);
}

/** The model ids that the emulator documents. It accepts other ids too. */
export const documentedModels: readonly string[] = Object.values(documented).flatMap((one) =>
  Object.keys(one),
);

/** Returns `undefined` if the dialect has no such model. */
export function traitsOf(
  model: string,
  dialect: DialectName,
  declared: Readonly<Record<string, Partial<ModelTraits>>> = {},
): ModelTraits | undefined {
  const own = Object.hasOwn(documented[dialect], model) ? documented[dialect][model] : undefined;
  if (own === undefined && documentedModels.includes(model)) return undefined;
  if (Object.hasOwn(declared, model)) {
    const base = own ?? (dialect === "anthropic-messages" ? claude : others[dialect](model)) ?? reasoner;
    return { ...base, ...declared[model] };
  }
  if (model === "" || model.startsWith("unknown")) return undefined;
  return own ?? others[dialect](model);
}

/** "gpt-5.6-sol-2026-09-01" and "gpt-5.6" are one family, which binds ciphertext if modelBinding is "family". */
function familyOf(model: string): string {
  return /^[a-z]+-\d+(?:\.\d+)?/.exec(model)?.[0] ?? model.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}

/** Whether one model may read what another one sealed (E05, C10). */
export function readsSealsOf(model: string, maker: string, binding: Switches["modelBinding"]): boolean {
  if (binding === "off" || model === maker) return true;
  return binding === "family" && familyOf(model) === familyOf(maker);
}
