/**
 * How each vendor formats the same answer: ids, the fields around a choice, usage. Key order is as recorded if there is
 * a recording (openai, deepseek, groq, mistral; Kimi's live one is public in vercel/ai), otherwise as reported.
 */

import { assertNever, type JsonObject } from "../../base/support/index.ts";
import { hashText } from "../seal.ts";
import type { Vendor } from "./vendors.ts";

export interface Frame {
  readonly vendor: Vendor;
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function responseIdOf(vendor: Vendor, random: (bytes: number) => Buffer, created: number): string {
  const hex = random(16).toString("hex");
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  switch (vendor) {
    case "openai":
      return `chatcmpl-${hashText(hex).replaceAll(/[^A-Za-z0-9]/g, "0")}`;
    case "deepseek":
      return uuid;
    case "kimi":
    case "groq":
    case "compatible":
      return `chatcmpl-${uuid}`;
    case "mistral":
      return hex;
    case "openrouter":
      return `gen-${created}-${hex.slice(0, 20)}`;
    default:
      return assertNever(vendor, "vendor");
  }
}

/** The fields around `choices`. */
export function around(frame: Frame, object: string, choices: readonly JsonObject[]): JsonObject {
  const { vendor, id, created, model } = frame;
  const fingerprint = { system_fingerprint: `fp_${hashText(model).slice(0, 10)}` };
  switch (vendor) {
    case "openai":
      return { id, object, created, model, service_tier: "default", ...fingerprint, choices };
    case "deepseek":
    case "groq":
      return { id, object, created, model, ...fingerprint, choices };
    case "kimi":
    case "mistral":
    case "compatible":
      return { id, object, created, model, choices };
    case "openrouter":
      return { id, provider: "OpenAI", model, object, created, choices };
    default:
      return assertNever(vendor, "vendor");
  }
}

/** One choice, with its `delta` or `message`. */
export function choiceOf(vendor: Vendor, what: JsonObject, finish: string | null): JsonObject {
  switch (vendor) {
    case "openai":
    case "deepseek":
    case "groq":
    case "compatible":
      return { index: 0, ...what, logprobs: null, finish_reason: finish };
    case "kimi":
    case "mistral":
      return { index: 0, ...what, finish_reason: finish };
    case "openrouter":
      return { index: 0, ...what, finish_reason: finish, native_finish_reason: finish, logprobs: null };
    default:
      return assertNever(vendor, "vendor");
  }
}

export interface Counted {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

export function usageFor(vendor: Vendor, counted: Counted): JsonObject {
  const { input, cached, output, reasoning } = counted;
  const tokens = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const thought = { completion_tokens_details: { reasoning_tokens: reasoning } };
  const fromCache = { prompt_tokens_details: { cached_tokens: cached } };
  switch (vendor) {
    case "openai":
      return {
        ...tokens,
        prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: reasoning,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      };
    case "deepseek":
      return {
        ...tokens,
        ...fromCache,
        ...thought,
        prompt_cache_hit_tokens: cached,
        prompt_cache_miss_tokens: input - cached,
      };
    case "kimi":
      return { ...tokens, cached_tokens: cached, ...thought, ...fromCache };
    case "groq":
      return {
        queue_time: 0.01,
        prompt_tokens: input,
        prompt_time: 0.001,
        completion_tokens: output,
        completion_time: 0.1,
        total_tokens: input + output,
        total_time: 0.101,
        ...thought,
      };
    case "compatible":
      return { ...tokens, ...fromCache, ...thought };
    case "mistral":
      return { prompt_tokens: input, total_tokens: input + output, completion_tokens: output };
    case "openrouter":
      return { ...tokens, cost: 0, is_byok: false, ...fromCache, ...thought };
    default:
      return assertNever(vendor, "vendor");
  }
}
