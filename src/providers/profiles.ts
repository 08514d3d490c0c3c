/**
 * Profiles and capabilities: how endpoints and models depart from the dialect. Data; every field says what it rests on.
 *
 * @module
 */

import type { Capabilities, Profile } from "../events/index.ts";
import { HOSTED_OMIT } from "./openai-responses/index.ts";

const RESPONSES: Profile = {
  name: "openai",
  dialect: "openai-responses",
  itemIds: "keep",
  maxItemIdLength: 64,
  maxCallIdLength: 64,
  callIdsRepeat: false,
  reasoningContent: "empty",
  reasoningPayload: "required",
  prefixBound: false,
  sendInclude: true,
  sendStore: true,
  sendPromptCacheKey: true,
  hostedOmit: HOSTED_OMIT,
  evidence: {
    itemIds: "failures.md law 1, R3",
    maxItemIdLength: "I05",
    maxCallIdLength: "T05",
    callIdsRepeat: "assumed",
    reasoningContent: "S04",
    reasoningPayload: "I01",
    prefixBound: "H06: silent, and which models is not known; off until a response says so",
    sendInclude: "F7, E11",
    sendStore: "F8",
    sendPromptCacheKey: "K02",
    hostedOmit: "T14",
  },
};

export const PROFILES: Readonly<Record<string, Profile>> = {
  openai: RESPONSES,
  emulator: { ...RESPONSES, name: "emulator" },
  /** Copilot-like gateways: ids rotate and are far too long (failures.md I05, I08). */
  "no-item-ids": {
    ...RESPONSES,
    name: "no-item-ids",
    itemIds: "omit",
    evidence: { ...RESPONSES.evidence, itemIds: "I05, I08, I09" },
  },
  /** Servers that give readable reasoning and no ciphertext: LM Studio, vLLM, llama.cpp. */
  "open-responses": {
    ...RESPONSES,
    name: "open-responses",
    itemIds: "omit",
    reasoningContent: "verbatim",
    reasoningPayload: "optional",
    sendPromptCacheKey: false,
    evidence: {
      ...RESPONSES.evidence,
      itemIds: "assumed",
      reasoningContent: "V02",
      reasoningPayload: "assumed",
    },
  },
  /** Reasoning is dropped by the server when what stands before it changed. */
  "prefix-bound": {
    ...RESPONSES,
    name: "prefix-bound",
    prefixBound: true,
    evidence: { ...RESPONSES.evidence, prefixBound: "H06" },
  },
};

/**
 * Reasoning history is kept for every model on this dialect, whatever its name (requirements Q5, Q6); one that refuses it
 * says so once and is remembered (healing, class CAP). Reasoning models refuse sampling parameters (failures.md S08).
 */
export function capabilitiesOf(model: string): Capabilities {
  return { reasoning: true, sampling: !/^(?:o\d|gpt-[5-9])/.test(model), vision: true };
}

/** Models from before reasoning: asking them for a summary is refused. */
export function takesReasoningParameters(model: string): boolean {
  return !/^(?:gpt-4|gpt-3|chatgpt-4)/.test(model);
}

export const EFFORTS: ReadonlySet<string> = new Set([
  "off",
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
]);
