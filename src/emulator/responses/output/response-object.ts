/**
 * The response object: every field of the recordings, in their order, echoing the request; then the fields the Open
 * Responses schema also requires. Every key is present in every state, null if it has no value.
 */

import { isObject, type JsonObject, objectOf } from "../../../base/support/index.ts";
import type { Draft } from "../../output/draft.ts";
import { outputTokens } from "../../output/usage.ts";
import type { ParsedRequest } from "../judge/request-shape.ts";

export interface ResponseState {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly output?: readonly JsonObject[];
  readonly usage?: JsonObject | null;
  readonly error?: JsonObject | null | undefined;
  readonly incompleteReason?: string | undefined;
  readonly completedAt?: number | undefined;
}

export function responseObject(options: {
  readonly id: string;
  readonly at: number;
  readonly request: ParsedRequest;
  readonly state: ResponseState;
}): JsonObject {
  const { request, state } = options;
  const { body } = request;
  const open = state.status === "in_progress" || state.status === "queued";
  const text = objectOf(body["text"]);
  return {
    id: options.id,
    object: "response",
    created_at: options.at,
    status: state.status,
    background: body["background"] ?? false,
    completed_at: state.completedAt ?? null,
    error: state.error ?? null,
    frequency_penalty: 0,
    incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    model: request.model,
    output: state.output ?? [],
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    presence_penalty: 0,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    prompt_cache_retention: body["prompt_cache_retention"] ?? null,
    reasoning: reasoningOf(request),
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: open ? (body["service_tier"] ?? "auto") : "default",
    store: request.store,
    temperature: body["temperature"] ?? 1,
    text: { format: text["format"] ?? { type: "text" }, verbosity: text["verbosity"] ?? "medium" },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: request.tools.map(echoTool),
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: state.usage ?? null,
    user: body["user"] ?? null,
    metadata: body["metadata"] ?? {},
  };
}

/** `spent`: all output tokens of an answer that was cut; the invisible part counts as reasoning. */
export function usageOf(
  prompt: { readonly input: number; readonly cached: number },
  drafts: readonly Draft[],
  spent?: number,
): JsonObject {
  const { all, reasoning } = outputTokens(drafts);
  const output = spent ?? all;
  return {
    input_tokens: prompt.input,
    input_tokens_details: { cached_tokens: prompt.cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning + output - all },
    total_tokens: prompt.input + output,
  };
}

function reasoningOf(request: ParsedRequest): JsonObject {
  const asked = request.body["reasoning"];
  const effort = request.traits.reasoning ? "medium" : null;
  if (!isObject(asked)) return { effort, summary: null };
  return { effort: asked["effort"] ?? effort, summary: asked["summary"] ?? null, context: asked["context"] };
}

/** The API fills in omitted fields: `strict` is true by default. */
function echoTool(tool: JsonObject): JsonObject {
  if (tool["type"] !== "function") return tool;
  return {
    type: "function",
    description: tool["description"] ?? null,
    name: tool["name"],
    parameters: tool["parameters"] ?? null,
    strict: tool["strict"] ?? true,
  };
}
