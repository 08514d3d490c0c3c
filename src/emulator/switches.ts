/**
 * Disputed facts about the real API, each a named switch (failures.md §6). The default is the stricter reading unless
 * the evidence is clear: a history that passes the strict reading also passes the other.
 */

/** A switch with these values; the first is the default unless `usual` names another. */
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
  /** Which reasoning items an item sent with its id needs: every earlier one of its response, or the nearest run. */
  requiredReasoning: choice(["all-preceding", "nearest-run"]),
  /** Whether an assistant message sent without its id, right after reasoning, must have the issued text. */
  followerText: choice(["exact", "any"]),
  /** A bare `rs_` id under store:false: 404 in reports up to early 2026; accepted by newer models in Sep 2026 (I01). */
  bareReasoningId: choice(["refuse", "accept"]),
  /** Reasoning without an id but with a valid blob: tolerated by OpenAI, refused by strict gateways (I09). */
  reasoningWithoutId: choice(["accept", "refuse"]),
  /**
   * A reasoning id with its blob under store:false: Azure was reported to look it up (openai/codex#3528,
   * vercel/ai#12687).
   */
  reasoningIdUnstored: choice(["accept", "refuse"]),
  /**
   * `encrypted_content: null`: I01 in the AI SDK era, later accepted from codex (S10). Accepting it also needs
   * bareReasoningId.
   */
  nullCiphertext: choice(["absent", "refuse-type"]),
  /**
   * `fc_`/`msg_` ids this server never issued: a live table shows that synthesised `fc_` ids pass (llm-rosetta#403).
   */
  unknownItemIds: choice(["refuse", "accept"]),
  /** Which models' ciphertext is accepted: only the model's own ("exact"), its family's, or any (E05). */
  modelBinding: choice(["exact", "family", "off"]),
  /**
   * The prefix check (H06): as the model requires, or forced. "refuse" is the behaviour of newer Claude models (C04).
   */
  prefixBinding: choice(["model", "off", "silent", "refuse"]),
  /** What the prefix covers. Whether instructions and tools count is unknown for OpenAI; for Claude they do. */
  prefixCovers: choice(["input", "input+instructions+tools"], "input+instructions+tools"),
  /** A second output for one call. The Responses message is unknown; "No tool call found" is an inference (T10). */
  duplicateOutputs: choice(["refuse", "accept"]),
  /** `status` on a reasoning item: typed in the SDK, refused by the live API (S03). */
  reasoningStatus: choice(["refuse", "accept"]),
  /** `reasoning.content` with text: OpenAI-hosted models only allow length 0 (S04). */
  reasoningContent: choice(["empty", "accept"]),
  /**
   * `image_generation_call` under store:false: refused with or without its id (anomalyco/opencode#41123), but an input
   * item in the types.
   */
  imageItems: choice(["refuse", "accept"]),
  /**
   * `function_call_output` without `call_id`: optional in the types (for output a client injects), refused in reports
   * (T06).
   */
  outputWithoutCallId: choice(["refuse", "accept"]),
  /** Unknown fields of input items (T14, S03). */
  unknownFields: choice(["refuse", "accept"]),
  /** Ciphertext without `include`: sent by default since late August 2026 (E11). "include" is the older behaviour. */
  ciphertextWithoutInclude: choice(["send", "include"]),
  /** Reasoning as `reasoning_text` content (gpt-oss, LM Studio) instead of summaries. */
  reasoningText: flag(false),
  /** `data: [DONE]` at the end: in no recording of this endpoint. */
  doneMarker: flag(false),
  /** `phase` on messages: sent by newer models (openai-phase recording), absent in older ones. */
  phase: flag(true),
  /** The smallest prefix that counts as cached; the real service documents 1024, in steps of 128. */
  cacheMinimumTokens: { usual: 1024, values: "number" },
  /** An organisation with zero data retention: other messages for I02 and I10, and nothing is stored. */
  zeroDataRetention: flag(false),
  /**
   * Messages: thinking by another model or account has an invalid signature (C03) or is dropped silently (C10); newer
   * models drop it.
   */
  foreignThinking: choice(["model", "refuse", "drop"]),
  /** Messages: thinking by another account: "alike" on all platforms in older pages, account-bound since 5.5. */
  accountBinding: choice(["exact", "off"]),
  /**
   * Messages, adaptive mode: thinking omitted from the open turn. The docs require it back; no refusal is reported
   * (C02).
   */
  adaptiveMissingThinking: choice(["refuse", "accept"]),
  /**
   * Messages, thinking off: where thinking blocks are refused: in the open tool loop, in the latest message, nowhere
   * (C06).
   */
  thinkingWhileOff: choice(["open-turn", "latest", "accept"]),
  /** Messages: a conversation that ends with the assistant: newer models refuse it, older ones continue it (C08). */
  prefill: choice(["refuse", "accept"]),
  /** Messages: `system` as a role inside `messages`: in the types since 2026, refused before. */
  systemMessages: choice(["accept", "refuse"]),
  /**
   * Messages: text of white space only. A live table of four shapes shows it accepted next to other text and refused
   * alone (LibreChat-AI/agents#124); home-assistant/core#175637 reports that it is always refused.
   */
  blankText: choice(["alone", "any"]),
  /**
   * Messages, C17: which waiting code needs its `container` named: any, or only code that has called tools itself
   * (anthropics/anthropic-sdk-python#1801 saw the rest pass).
   */
  pendingContainer: choice(["always", "generated"]),
  /** Messages: conversations the server holds (`thread`): held as by the API, or refused as by gateways. */
  threads: choice(["hold", "refuse"]),
  /**
   * DeepSeek: "the request carried tools" (its guide in August 2026) or "tools were called" (its earlier guide; V02).
   */
  requires: choice(["tools-carried", "tools-called"]),
  /**
   * Chat: `reasoning_content: ""` where it must come back: three clients send it to DeepSeek, but hermes-agent#17341
   * saw it refused.
   */
  emptyReasoning: choice(["refuse", "accept"]),
  /** Chat: reasoning text this conversation was not given: no vendor can tell, but a test may need to. */
  unknownReasoning: choice(["accept", "refuse"]),
  /**
   * Mistral: a signature on its thinking parts (@mistralai/mistralai 2.7.0); the recording from early 2026 has none.
   */
  mistralSignature: flag(true),
  /** Kimi K3 does not accept `thinking`; whether it refuses or ignores it is not documented. */
  kimiThinking: choice(["refuse", "ignore"]),
  /**
   * Chat: reasoning of earlier turns: as the vendor reads it, cleared (GLM's default), or kept (`clear_thinking:
   * false`, V09).
   */
  clearThinking: choice(["vendor", "clear", "keep"]),
  /**
   * Chat: call ids of at most 40 characters (OpenAI; a live request with 51 passed in July 2026) or exactly nine
   * (Mistral).
   */
  callIdForm: choice(["vendor", "any"]),
} as const;

/** Widened: a number's default is one of many values. */
type ValueOf<Entry> = Entry extends { readonly values: readonly (infer Value)[] } ? Value : number;

/** Disputed facts about the real APIs, one switch each. docs/emulator.md describes them. */
export type Switches = { readonly [Name in keyof typeof table]: ValueOf<(typeof table)[Name]> };

function perSwitch(column: "usual" | "values"): unknown {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, entry[column]]));
}

/** The default of each switch. */
export const defaultSwitches = perSwitch("usual") as Switches;

/** The allowed values of each switch. */
export const switchValues = perSwitch("values") as {
  readonly [Name in keyof Switches]: readonly Switches[Name][] | "number";
};

function isSwitchName(name: string): name is keyof Switches {
  return Object.hasOwn(switchValues, name);
}

/** Reads one switch from text or from a file. Returns a `problem` that says what is allowed, instead of throwing. */
export function parseSwitch(name: string, value: unknown): Partial<Switches> | { readonly problem: string } {
  if (!isSwitchName(name)) {
    return { problem: `unknown switch '${name}'; use one of: ${Object.keys(switchValues).join(", ")}` };
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
