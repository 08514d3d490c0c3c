/** How endpoints depart from OpenAI's Responses API. This is data; every field gives its evidence. */

import type { Profile } from "../../../base/events/index.ts";
import { HOSTED_OMIT } from "../openai-responses/index.ts";

const RESPONSES: Profile = {
  name: "openai",
  dialect: "openai-responses",
  responseForm: "items",
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
  omitsAlone: true,
  unitesParameters: true,
  evidence: {
    responseForm: "§2: items with ids of their own",
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
    omitsAlone: "law 1: by id nobody names anything but thoughts; P01, P12",
    unitesParameters: "I01, E11: without ciphertext the thoughts cannot come back",
  },
};

export const RESPONSES_PROFILES = {
  openai: RESPONSES,
  emulator: { ...RESPONSES, name: "emulator" },
  /** Copilot-like gateways: their ids rotate and are far too long (failures.md I05, I08). */
  "no-item-ids": {
    ...RESPONSES,
    name: "no-item-ids",
    itemIds: "omit",
    evidence: { ...RESPONSES.evidence, itemIds: "I05, I08, I09" },
  },
  /** Servers that return readable reasoning and no ciphertext: LM Studio, vLLM, llama.cpp. */
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
  /** The server drops reasoning if the content before it changed. */
  "prefix-bound": {
    ...RESPONSES,
    name: "prefix-bound",
    prefixBound: true,
    evidence: { ...RESPONSES.evidence, prefixBound: "H06" },
  },
  /** Ciphertext may arrive only with the terminal event; ids are accepted back only together with their payload. */
  azure: {
    ...RESPONSES,
    name: "azure",
    evidence: { ...RESPONSES.evidence, itemIds: "§6: only the exact pair of id and payload works" },
  },
  /**
   * Returns ciphertext; errors are plain strings (E10). Its own searches arrive as custom calls that it has already
   * run.
   */
  xai: {
    ...RESPONSES,
    name: "xai",
    serverCustomCalls: true,
    itemIdsRepeat: true,
    patienceMs: 900_000,
    evidence: {
      ...RESPONSES.evidence,
      itemIds: "assumed",
      sendPromptCacheKey: "xAI's guide: one per conversation, and a history that only grows",
      serverCustomCalls: "recorded answers with x_search: calls that ended before the answer, and no outputs",
      itemIdsRepeat: "I13",
      patienceMs: "xAI's guide asks for a limit of 15 minutes for reasoning models",
    },
  },
  /** Readable reasoning that must be sent back as `reasoning_text` (V02). */
  "deepseek-responses": {
    ...RESPONSES,
    name: "deepseek-responses",
    itemIds: "omit",
    reasoningContent: "verbatim",
    reasoningPayload: "optional",
    sendInclude: false,
    sendPromptCacheKey: false,
    evidence: {
      ...RESPONSES.evidence,
      itemIds: "assumed",
      reasoningContent: "V02",
      reasoningPayload: "V02",
      sendInclude: "assumed",
      sendPromptCacheKey: "assumed",
    },
  },
} satisfies Readonly<Record<string, Profile>>;
