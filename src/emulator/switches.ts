/**
 * Disputed facts of the real API, each one a named switch (failures.md §6). The default is the stricter reading unless
 * the evidence is clear: a history that passes the strict reading passes the other one as well.
 *
 * @module
 */

export interface Switches {
  /** Consecutive reasoning items before one follower (rs, rs, fc): codex and pi send them verbatim (R4). */
  readonly consecutiveReasoning: "accept" | "refuse";
  /** Which reasoning items an item that is sent with its id needs: every earlier one of its response, or the nearest run. */
  readonly requiredReasoning: "all-preceding" | "nearest-run";
  /** Must an assistant message sent without its id, right after reasoning, have the text that was issued? */
  readonly followerText: "exact" | "any";
  /** A bare `rs_` id under store:false: 404 in reports up to early 2026; accepted by newer models in Sep 2026 (I01). */
  readonly bareReasoningId: "refuse" | "accept";
  /** Reasoning without an id beside a valid blob: tolerated by OpenAI, refused by strict gateways (I09). */
  readonly reasoningWithoutId: "accept" | "refuse";
  /** `encrypted_content: null`: I01 in the AI SDK era, accepted from codex later (S10). Accepting needs bareReasoningId too. */
  readonly nullCiphertext: "absent" | "refuse-type";
  /** `fc_`/`msg_` ids this server never issued: a live table says synthesised `fc_` ids pass (llm-rosetta#403). */
  readonly unknownItemIds: "refuse" | "accept";
  /** Ciphertext of another model: never, within one family, or always refused (E05). */
  readonly modelBinding: "exact" | "family" | "off";
  /** Prefix check (H06): as the model says, or forced. "refuse" is how newer Claude models do it (C04). */
  readonly prefixBinding: "model" | "off" | "silent" | "refuse";
  /** What the prefix covers. For OpenAI it is not known whether instructions and tools count; for Claude they do. */
  readonly prefixCovers: "input" | "input+instructions+tools";
  /** A second output for one call. The Responses wording is not known; "No tool call found" is an inference (T10). */
  readonly duplicateOutputs: "refuse" | "accept";
  /** `status` on a reasoning item: typed in the SDK, refused by the live API (S03). */
  readonly reasoningStatus: "refuse" | "accept";
  /** `reasoning.content` with text: OpenAI-hosted models allow length 0 only (S04). */
  readonly reasoningContent: "empty" | "accept";
  /** Unknown fields of input items (T14, S03). */
  readonly unknownFields: "refuse" | "accept";
  /** Ciphertext without `include`: by default since late August 2026 (E11). "include" is the older behaviour. */
  readonly ciphertextWithoutInclude: "send" | "include";
  /** Reasoning as `reasoning_text` content (gpt-oss, LM Studio) instead of summaries. */
  readonly reasoningText: boolean;
  /** `data: [DONE]` at the end: not in any recording of this endpoint. */
  readonly doneMarker: boolean;
  /** `phase` on messages: sent by newer models (openai-phase recording), absent in older ones. */
  readonly phase: boolean;
  /** Smallest prefix that counts as cached; the real service documents 1024, in steps of 128. */
  readonly cacheMinimumTokens: number;
  /** An organisation with zero data retention: other words for I02 and I10, and nothing is stored. */
  readonly zeroDataRetention: boolean;
  /** Messages: thinking of another model or account: an invalid signature (C03), or dropped in silence (C10). */
  readonly foreignThinking: "refuse" | "drop";
  /** Messages, adaptive mode: thinking left out of the open turn. The docs ask for it back; a refusal is not reported (C02). */
  readonly adaptiveMissingThinking: "refuse" | "accept";
  /** Messages, thinking off: where thinking blocks are refused: the open tool loop, the latest message, nowhere (C06). */
  readonly thinkingWhileOff: "open-turn" | "latest" | "accept";
  /** Messages: a conversation that ends with the assistant: newer models refuse it, older ones go on from it (C08). */
  readonly prefill: "refuse" | "accept";
  /** Messages: `system` as a role inside `messages`: in the types since 2026, refused before. */
  readonly systemMessages: "accept" | "refuse";
  /** Chat: `reasoning_content: ""` where it must come back: a placeholder that some report as enough (V01, V02). */
  readonly emptyReasoning: "refuse" | "accept";
  /** Chat: reasoning text this conversation was not given: no vendor can tell, but a test may want to know. */
  readonly unknownReasoning: "accept" | "refuse";
  /** Chat: reasoning of earlier turns: as the vendor reads it, cleared (GLM's default), or kept (`clear_thinking: false`, V09). */
  readonly clearThinking: "vendor" | "clear" | "keep";
  /** Chat: call ids of at most 40 characters (OpenAI; a live request of July 2026 passed with 51), of exactly nine (Mistral). */
  readonly callIdForm: "vendor" | "any";
}

export const defaultSwitches: Switches = {
  consecutiveReasoning: "accept",
  requiredReasoning: "all-preceding",
  followerText: "exact",
  bareReasoningId: "refuse",
  reasoningWithoutId: "accept",
  nullCiphertext: "absent",
  unknownItemIds: "refuse",
  modelBinding: "exact",
  prefixBinding: "model",
  prefixCovers: "input+instructions+tools",
  duplicateOutputs: "refuse",
  reasoningStatus: "refuse",
  reasoningContent: "empty",
  unknownFields: "refuse",
  ciphertextWithoutInclude: "send",
  reasoningText: false,
  doneMarker: false,
  phase: true,
  cacheMinimumTokens: 1024,
  zeroDataRetention: false,
  foreignThinking: "refuse",
  adaptiveMissingThinking: "refuse",
  thinkingWhileOff: "open-turn",
  prefill: "refuse",
  systemMessages: "accept",
  emptyReasoning: "refuse",
  unknownReasoning: "accept",
  clearThinking: "vendor",
  callIdForm: "vendor",
};

/** The allowed values per switch, for the command line and for scenario files. */
export const switchValues: { readonly [Name in keyof Switches]: readonly Switches[Name][] | "number" } = {
  consecutiveReasoning: ["accept", "refuse"],
  requiredReasoning: ["all-preceding", "nearest-run"],
  followerText: ["exact", "any"],
  bareReasoningId: ["refuse", "accept"],
  reasoningWithoutId: ["accept", "refuse"],
  nullCiphertext: ["absent", "refuse-type"],
  unknownItemIds: ["refuse", "accept"],
  modelBinding: ["exact", "family", "off"],
  prefixBinding: ["model", "off", "silent", "refuse"],
  prefixCovers: ["input", "input+instructions+tools"],
  duplicateOutputs: ["refuse", "accept"],
  reasoningStatus: ["refuse", "accept"],
  reasoningContent: ["empty", "accept"],
  unknownFields: ["refuse", "accept"],
  ciphertextWithoutInclude: ["send", "include"],
  reasoningText: [true, false],
  doneMarker: [true, false],
  phase: [true, false],
  cacheMinimumTokens: "number",
  zeroDataRetention: [true, false],
  foreignThinking: ["refuse", "drop"],
  adaptiveMissingThinking: ["refuse", "accept"],
  thinkingWhileOff: ["open-turn", "latest", "accept"],
  prefill: ["refuse", "accept"],
  systemMessages: ["accept", "refuse"],
  emptyReasoning: ["refuse", "accept"],
  unknownReasoning: ["accept", "refuse"],
  clearThinking: ["vendor", "clear", "keep"],
  callIdForm: ["vendor", "any"],
};

function isSwitchName(name: string): name is keyof Switches {
  return Object.hasOwn(switchValues, name);
}

/** Reads one switch from text (`--switch name=value`) or from a file; the message says what would be allowed. */
export function parseSwitch(name: string, value: unknown): Partial<Switches> | { readonly problem: string } {
  if (!isSwitchName(name)) {
    return { problem: `unknown switch '${name}'; known are: ${Object.keys(switchValues).join(", ")}` };
  }
  const allowed = switchValues[name];
  if (allowed === "number") {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0) return { [name]: number };
    return { problem: `switch '${name}' takes a whole number of 0 or more` };
  }
  const found = (allowed as readonly unknown[]).find((one) => one === value || String(one) === value);
  if (found !== undefined) return { [name]: found };
  return { problem: `switch '${name}' takes ${allowed.map(String).join(" | ")}` };
}
