/** How a message ends: as the model or scenario intended, as a fault forces, or at a limit of the request. */

import { arrayOf } from "../../base/support/index.ts";
import type { Fault } from "../faults/fault.ts";
import { type Draft, halved, type Reply } from "../output/draft.ts";
import { draftTokens, lettersPerToken } from "../output/usage.ts";
import { type ApiError, apiError } from "./http-errors.ts";
import type { JudgedMessages } from "./judge-request.ts";
import { callsClient } from "./output/server-results.ts";
import { SURPRISE } from "./own-types.ts";
import { invalidSignature } from "./refusals.ts";
import { STOP_REASONS } from "./vocabulary.ts";

export interface Ending {
  readonly drafts: readonly Draft[];
  readonly stopReason: string;
  readonly stopSequence: string | null;
  /** Set at a limit: everything the limit allows is spent, visible or not. */
  readonly tokens?: number | undefined;
  /** Set if an error ends the message. */
  readonly error?: ApiError | undefined;
}

export function endingOf(
  judged: JudgedMessages,
  reply: Reply,
  options: { readonly faults: readonly Fault[]; readonly input: number },
): Ending {
  let drafts = reply.output;
  if (options.faults.some((fault) => fault.type === "unknown-item")) {
    const surprise: Draft = { type: "raw", item: { type: SURPRISE, payload: { depth: 1 } } };
    drafts = [...drafts.slice(0, -1), surprise, ...drafts.slice(-1)];
  }
  for (const fault of options.faults) {
    const forced = forcedEnding(fault, drafts, judged);
    if (forced !== undefined) return forced;
  }
  if (reply.status === "failed") return failed(drafts, reply.error?.code, reply.error?.message);
  if (reply.status === "incomplete") return stopped(drafts, stopReasonOf(reply.incompleteReason));
  return limited(drafts, judged, options.input) ?? stopped(drafts, naturalReason(drafts));
}

function stopped(drafts: readonly Draft[], stopReason: string, stopSequence: string | null = null): Ending {
  return { drafts, stopReason, stopSequence };
}

function failed(drafts: readonly Draft[], code: string | undefined, message: string | undefined): Ending {
  return { ...stopped(drafts, "end_turn"), error: apiError(code, message) };
}

/** Scenarios and faults use the names of the Responses API if both APIs have one. */
function stopReasonOf(reason: string | undefined): string {
  if (reason === "content_filter") return "refusal";
  return reason !== undefined && STOP_REASONS.has(reason) ? reason : "max_tokens";
}

function naturalReason(drafts: readonly Draft[]): string {
  if (drafts.some((draft) => draft.type === "message" && draft.refusal === true)) return "refusal";
  return drafts.some(callsClient) ? "tool_use" : "end_turn";
}

function forcedEnding(fault: Fault, drafts: readonly Draft[], judged: JudgedMessages): Ending | undefined {
  if (fault.type === "incomplete") return stopped(halved(drafts, fault.items), stopReasonOf(fault.reason));
  if (fault.type === "invalid-encrypted-content") {
    const first = judged.context.blocks.find((block) => block.type === "thinking");
    const { message } = invalidSignature(first?.path ?? "messages.0.content.0");
    return failed([], "invalid_request_error", message);
  }
  if (fault.type === "error-event")
    return failed(drafts.slice(0, fault.items ?? 0), fault.code ?? "overloaded_error", fault.message);
  if (fault.type !== "failed") return undefined;
  return failed(drafts.slice(0, fault.items ?? drafts.length), fault.code, fault.message);
}

/** Applies `stop_sequences`, `max_tokens`, and the context window that input and output share. */
function limited(drafts: readonly Draft[], judged: JudgedMessages, input: number): Ending | undefined {
  const { body, traits } = judged.request;
  const sequences = arrayOf(body["stop_sequences"]).filter((one) => typeof one === "string" && one !== "");
  const limit = Number(body["max_tokens"]);
  const window = traits.contextTokens - input;
  let tokens = 0;
  for (const [index, draft] of drafts.entries()) {
    if (draft.type === "message") {
      const found = firstOf(sequences as readonly string[], draft.text);
      if (found !== undefined) {
        const text = draft.text.slice(0, found.at);
        const said: readonly Draft[] = text === "" ? [] : [{ ...draft, text }];
        return stopped([...drafts.slice(0, index), ...said], "stop_sequence", found.sequence);
      }
    }
    const room = Math.min(limit, window) - tokens;
    tokens += draftTokens(draft);
    if (draftTokens(draft) > room) {
      const reason = limit <= window ? "max_tokens" : "model_context_window_exceeded";
      return { ...stopped(cut(drafts, index, room), reason), tokens: Math.min(limit, window) };
    }
  }
  return undefined;
}

/** Keeps everything before `index`, and as much of a message there as fits. */
function cut(drafts: readonly Draft[], index: number, room: number): readonly Draft[] {
  const kept = drafts.slice(0, index);
  const draft = drafts[index];
  if (draft?.type !== "message") return kept;
  const letters = Math.max(1, room - draftTokens({ ...draft, text: "" })) * lettersPerToken;
  return room < 1 ? kept : [...kept, { ...draft, text: draft.text.slice(0, letters) }];
}

function firstOf(
  sequences: readonly string[],
  text: string,
): { readonly sequence: string; readonly at: number } | undefined {
  return sequences
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .toSorted((a, b) => a.at - b.at)[0];
}
