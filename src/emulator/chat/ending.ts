/**
 * A reply as one assistant message: reasoning, text, calls, in this order; where it is cut short, and how it ends.
 * Faults count these parts as items.
 */

import type { Fault } from "../faults/fault.ts";
import type { Draft, Reply } from "../output/draft.ts";
import { draftTokens } from "../output/usage.ts";
import { faultMessages } from "../responses/http-errors.ts";
import type { ChatRequest } from "./request-shape.ts";
import type { ChatFinishReason } from "./vocabulary.ts";

export type ReplyPart =
  /** One per thought; a vendor that shows none still counts its tokens. */
  | { readonly type: "reasoning"; readonly text: string; readonly notes: string; readonly tokens: number }
  | { readonly type: "content"; readonly text: string; readonly tokens: number }
  | { readonly type: "refusal"; readonly text: string; readonly tokens: number }
  | {
      readonly type: "call";
      readonly name: string;
      readonly arguments: string;
      readonly custom: boolean;
      readonly callId: string | undefined;
      readonly tokens: number;
    };

export interface Ending {
  readonly status: "completed" | "incomplete" | "failed";
  readonly parts: readonly ReplyPart[];
  readonly finish: ChatFinishReason;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** In OpenAI's form, or without the surrounding `error`, as in vLLM. */
  readonly errorShape?: "nested" | "flat";
}

export function endingOf(request: ChatRequest, reply: Reply, faults: readonly Fault[]): Ending {
  const parts = toParts(reply.output);
  for (const fault of faults) {
    const forced = forcedEnding(fault, parts);
    if (forced !== undefined) return forced;
  }
  const { limit } = request;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (const [index, part] of parts.entries()) {
    if (part.tokens > left)
      return {
        ...cutShort(parts, index, "max_output_tokens"),
        parts: [...parts.slice(0, index), ...fitting(part, left)],
      };
    left -= part.tokens;
  }
  if (reply.status === "incomplete") return cutShort(parts, parts.length, reply.incompleteReason ?? "");
  if (reply.status === "failed") {
    const error = reply.error ?? { code: "server_error", message: "The scenario says that this fails." };
    return { status: "failed", parts, finish: "stop", error, errorShape: "nested" };
  }
  const called = parts.some((part) => part.type === "call");
  return { status: "completed", parts, finish: called ? "tool_calls" : "stop" };
}

/** Several thoughts stay separate; several messages become one. This dialect has no hosted tools or raw items. */
function toParts(drafts: readonly Draft[]): readonly ReplyPart[] {
  const thoughts: ReplyPart[] = [];
  const calls: ReplyPart[] = [];
  const said: Extract<Draft, { type: "message" }>[] = [];
  for (const draft of drafts) {
    const tokens = draftTokens(draft);
    if (draft.type === "reasoning") {
      const text = draft.text ?? draft.summary.join("\n\n");
      thoughts.push({ type: "reasoning", text, notes: draft.notes ?? "", tokens });
    } else if (draft.type === "message") said.push(draft);
    else if (draft.type === "function_call" || draft.type === "custom_tool_call") {
      const custom = draft.type === "custom_tool_call";
      const input = draft.type === "custom_tool_call" ? draft.input : draft.arguments;
      calls.push({ type: "call", name: draft.name, arguments: input, custom, callId: draft.callId, tokens });
    }
  }
  const text = said.map((one) => one.text).join("\n\n");
  const tokens = said.reduce((sum, one) => sum + draftTokens(one), 0);
  const refused = said.some((one) => one.refusal === true);
  const message: readonly ReplyPart[] =
    said.length === 0 ? [] : [{ type: refused ? "refusal" : "content", text, tokens }];
  return [...thoughts, ...message, ...calls];
}

function forcedEnding(fault: Fault, parts: readonly ReplyPart[]): Ending | undefined {
  if (fault.type === "incomplete") return cutShort(parts, fault.items, fault.reason);
  const broken = fault.type === "failed" || fault.type === "error-event";
  if (!broken) return undefined;
  const code = fault.code ?? "server_error";
  const message = fault.message ?? faultMessages[code] ?? `Emulated failure ${code}.`;
  const all = fault.type === "failed" ? parts.length : 0;
  return {
    status: "failed",
    parts: parts.slice(0, fault.items ?? all),
    finish: "stop",
    error: { code, message },
    errorShape: fault.type === "error-event" ? fault.shape : "nested",
  };
}

/** The part that fits the limit. An incomplete call is dropped. */
function fitting(part: ReplyPart, tokens: number): readonly ReplyPart[] {
  if (part.type === "call") return [];
  // A thought costs one token per character, other text one per four.
  const text = part.text.slice(0, part.type === "reasoning" ? tokens : tokens * 4);
  return text === "" ? [] : [{ ...part, text, tokens }];
}

/**
 * Keeps the first `count` parts whole and half of a text after them. A thought that used up the whole budget leaves
 * nothing (V10).
 */
function cutShort(parts: readonly ReplyPart[], count: number, reason: string): Ending {
  const kept = parts.slice(0, count);
  const next = parts[count];
  const half =
    next === undefined || next.type === "call"
      ? []
      : [{ ...next, text: next.text.slice(0, Math.ceil(next.text.length / 2)) }];
  return {
    status: "incomplete",
    parts: [...kept, ...half],
    finish: reason === "content_filter" ? "content_filter" : "length",
  };
}
