/**
 * The stream events that carry text: for which item, in which member, and whether a chunk (`delta`) or all of it
 * (`done`).
 */

import type { DeltaChannel, StreamEvent } from "../provider.ts";
import type { ClientCall } from "./client-calls.ts";

export type ItemKind = Extract<StreamEvent, { readonly type: "item_start" }>["kind"];

export interface TextSource {
  readonly kind: ItemKind;
  readonly channel: DeltaChannel;
  readonly field: string;
  /** The member with the part's index. */
  readonly part?: string | undefined;
  /** The event carries the whole text, not a chunk. */
  readonly whole: boolean;
}

const source = (
  kind: TextSource["kind"],
  channel: DeltaChannel,
  field: string,
  part?: string,
): TextSource => ({ kind, channel, field, part, whole: field !== "delta" });

/** A map, because types come from outside and a plain object has names of its own. */
export const TEXT_EVENTS: ReadonlyMap<string, TextSource> = new Map([
  [
    "response.reasoning_summary_part.added",
    { ...source("reasoning", "summary", "part-text", "summary_index"), whole: false },
  ],
  ["response.reasoning_summary_text.delta", source("reasoning", "summary", "delta", "summary_index")],
  ["response.reasoning_summary_text.done", source("reasoning", "summary", "text", "summary_index")],
  ["response.reasoning_text.delta", source("reasoning", "reasoning", "delta", "content_index")],
  ["response.reasoning_text.done", source("reasoning", "reasoning", "text", "content_index")],
  ["response.reasoning.delta", source("reasoning", "reasoning", "delta", "content_index")],
  ["response.reasoning.done", source("reasoning", "reasoning", "text", "content_index")],
  ["response.output_text.delta", source("message", "text", "delta", "content_index")],
  ["response.output_text.done", source("message", "text", "text", "content_index")],
  ["response.refusal.delta", source("message", "text", "delta", "content_index")],
  ["response.refusal.done", source("message", "text", "refusal", "content_index")],
  ["response.function_call_arguments.delta", source("tool_call", "arguments", "delta")],
  ["response.function_call_arguments.done", source("tool_call", "arguments", "arguments")],
  ["response.custom_tool_call_input.delta", source("tool_call", "arguments", "delta")],
  ["response.custom_tool_call_input.done", source("tool_call", "arguments", "input")],
]);

export function kindOf(itemType: string, call: ClientCall | undefined): ItemKind {
  if (itemType === "reasoning") return "reasoning";
  if (itemType === "message") return "message";
  return call === undefined ? "other" : "tool_call";
}
