/**
 * What each model id can do. Data, not code: four documented ids, every other id behaves as a reasoning model,
 * ids that begin with "unknown" do not exist.
 *
 * @module
 */

export interface ModelTraits {
  readonly reasoning: boolean;
  /** P14: a plain model refuses reasoning items. E11: it may refuse `include: ["reasoning.encrypted_content"]`. */
  readonly encryptedContent: boolean;
  /** S08: reasoning models refuse `temperature` and `top_p`. */
  readonly sampling: boolean;
  /** H06: drops reasoning whose prefix changed, without an error. */
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

const documented: Readonly<Record<string, ModelTraits>> = {
  "emu-reasoner": reasoner,
  "emu-reasoner-mini": { ...reasoner, contextTokens: 16_000 },
  "emu-prefix-bound": { ...reasoner, prefixBound: true },
  "emu-plain": { ...reasoner, reasoning: false, encryptedContent: false, sampling: true },
};

export const documentedModels: readonly string[] = Object.keys(documented);

/** `undefined`: no such model. */
export function traitsOf(
  model: string,
  declared: Readonly<Record<string, Partial<ModelTraits>>> = {},
): ModelTraits | undefined {
  if (Object.hasOwn(declared, model)) return { ...(documented[model] ?? reasoner), ...declared[model] };
  if (model === "" || model.startsWith("unknown")) return undefined;
  if (Object.hasOwn(documented, model)) return documented[model];
  // The families that are known not to reason; a client may send their ids to test P14.
  if (/^(gpt-4|gpt-3|chatgpt-4)/.test(model)) return documented["emu-plain"];
  return reasoner;
}

/** "gpt-5.6-sol-2026-09-01" and "gpt-5.6" are one family: what binds ciphertext when modelBinding is "family". */
export function familyOf(model: string): string {
  return /^[a-z]+-\d+(?:\.\d+)?/.exec(model)?.[0] ?? model.replace(/-\d{4}-\d{2}-\d{2}$/, "");
}
