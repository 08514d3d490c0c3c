/**
 * Disputed facts of the real API, each one a named switch (failures.md §6). The default is the stricter reading unless
 * the evidence is clear: a history that passes the strict reading passes the other one as well.
 */

/** Takes one of these; the first is the usual one unless another is named. */
function choice<const Value extends string>(
  values: readonly [Value, ...Value[]],
  usual: Value = values[0],
): { readonly usual: Value; readonly values: readonly Value[] } {
  return { usual, values };
}

function flag(usual: boolean): { readonly usual: boolean; readonly values: readonly boolean[] } {
  return { usual, values: [true, false] };
}

const table = {
  /** Consecutive reasoning items before one follower (rs, rs, fc): codex and pi send them verbatim (R4). */
  consecutiveReasoning: choice(["accept", "refuse"]),
  /** Which reasoning items an item that is sent with its id needs: every earlier one of its response, or the nearest run. */
  requiredReasoning: choice(["all-preceding", "nearest-run"]),
  /** Must an assistant message sent without its id, right after reasoning, have the text that was issued? */
  followerText: choice(["exact", "any"]),
  /** A bare `rs_` id under store:false: 404 in reports up to early 2026; accepted by newer models in Sep 2026 (I01). */
  bareReasoningId: choice(["refuse", "accept"]),
  /** Reasoning without an id beside a valid blob: tolerated by OpenAI, refused by strict gateways (I09). */
  reasoningWithoutId: choice(["accept", "refuse"]),
  /** A reasoning id under store:false, beside its blob: Azure was reported to look it up (openai/codex#3528, vercel/ai#12687). */
  reasoningIdUnstored: choice(["accept", "refuse"]),
  /** `encrypted_content: null`: I01 in the AI SDK era, accepted from codex later (S10). Accepting needs bareReasoningId too. */
  nullCiphertext: choice(["absent", "refuse-type"]),
  /** `fc_`/`msg_` ids this server never issued: a live table says synthesised `fc_` ids pass (llm-rosetta#403). */
  unknownItemIds: choice(["refuse", "accept"]),
  /** Ciphertext of another model: never, within one family, or always refused (E05). */
  modelBinding: choice(["exact", "family", "off"]),
  /** Prefix check (H06): as the model says, or forced. "refuse" is how newer Claude models do it (C04). */
  prefixBinding: choice(["model", "off", "silent", "refuse"]),
  /** What the prefix covers. For OpenAI it is not known whether instructions and tools count; for Claude they do. */
  prefixCovers: choice(["input", "input+instructions+tools"], "input+instructions+tools"),
  /** A second output for one call. The Responses wording is not known; "No tool call found" is an inference (T10). */
  duplicateOutputs: choice(["refuse", "accept"]),
  /** `status` on a reasoning item: typed in the SDK, refused by the live API (S03). */
  reasoningStatus: choice(["refuse", "accept"]),
  /** `reasoning.content` with text: OpenAI-hosted models allow length 0 only (S04). */
  reasoningContent: choice(["empty", "accept"]),
  /** `image_generation_call` under store:false: refused with or without its id (anomalyco/opencode#41123); an input item in the types. */
  imageItems: choice(["refuse", "accept"]),
  /** `function_call_output` without `call_id`: optional in the types (output a client injects), refused in reports (T06). */
  outputWithoutCallId: choice(["refuse", "accept"]),
  /** Unknown fields of input items (T14, S03). */
  unknownFields: choice(["refuse", "accept"]),
  /** Ciphertext without `include`: by default since late August 2026 (E11). "include" is the older behaviour. */
  ciphertextWithoutInclude: choice(["send", "include"]),
  /** Reasoning as `reasoning_text` content (gpt-oss, LM Studio) instead of summaries. */
  reasoningText: flag(false),
  /** `data: [DONE]` at the end: not in any recording of this endpoint. */
  doneMarker: flag(false),
  /** `phase` on messages: sent by newer models (openai-phase recording), absent in older ones. */
  phase: flag(true),
  /** Smallest prefix that counts as cached; the real service documents 1024, in steps of 128. */
  cacheMinimumTokens: { usual: 1024, values: "number" },
  /** An organisation with zero data retention: other words for I02 and I10, and nothing is stored. */
  zeroDataRetention: flag(false),
  /** Messages: thinking of another model or account: an invalid signature (C03), or dropped in silence (C10). */
  foreignThinking: choice(["refuse", "drop"]),
  /** Messages, adaptive mode: thinking left out of the open turn. The docs ask for it back; a refusal is not reported (C02). */
  adaptiveMissingThinking: choice(["refuse", "accept"]),
  /** Messages, thinking off: where thinking blocks are refused: the open tool loop, the latest message, nowhere (C06). */
  thinkingWhileOff: choice(["open-turn", "latest", "accept"]),
  /** Messages: a conversation that ends with the assistant: newer models refuse it, older ones go on from it (C08). */
  prefill: choice(["refuse", "accept"]),
  /** Messages: `system` as a role inside `messages`: in the types since 2026, refused before. */
  systemMessages: choice(["accept", "refuse"]),
  /** Chat: `reasoning_content: ""` where it must come back: a placeholder that some report as enough (V01, V02). */
  emptyReasoning: choice(["refuse", "accept"]),
  /** Chat: reasoning text this conversation was not given: no vendor can tell, but a test may want to know. */
  unknownReasoning: choice(["accept", "refuse"]),
  /** Chat: reasoning of earlier turns: as the vendor reads it, cleared (GLM's default), or kept (`clear_thinking: false`, V09). */
  clearThinking: choice(["vendor", "clear", "keep"]),
  /** Chat: call ids of at most 40 characters (OpenAI; a live request of July 2026 passed with 51), of exactly nine (Mistral). */
  callIdForm: choice(["vendor", "any"]),
} as const;

/** Widened: the usual value of a number is one of many. */
type ValueOf<Entry> = Entry extends { readonly values: readonly (infer Value)[] } ? Value : number;

export type Switches = { readonly [Name in keyof typeof table]: ValueOf<(typeof table)[Name]> };

function perSwitch(column: "usual" | "values"): unknown {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, entry[column]]));
}

export const defaultSwitches = perSwitch("usual") as Switches;

/** The allowed values per switch, for the command line and for scenario files. */
export const switchValues = perSwitch("values") as {
  readonly [Name in keyof Switches]: readonly Switches[Name][] | "number";
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
