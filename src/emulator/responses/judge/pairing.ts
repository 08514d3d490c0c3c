/**
 * Pairing (P01–P13), in two directions. A reasoning item must be directly followed by the item that followed it in its
 * response. An item sent with its id needs the reasoning of its response, also sent with its id. The first check is by
 * position, the second by id (failures.md §0, law 1).
 */

import type { ApiRefusal } from "../../api-refusal.ts";
import type { Sealed } from "../../seal.ts";
import { type ContextItem, type HistoryQuestion, messageHash } from "./context.ts";
import { withoutFollower, withoutReasoning } from "./refusals.ts";

export function checkFollower(options: {
  readonly position: number;
  readonly question: HistoryQuestion;
  readonly sealed: Sealed | undefined;
}): ApiRefusal | undefined {
  const { position, question, sealed } = options;
  const { context, switches } = question;
  const one = context[position];
  if (one === undefined) return undefined;
  const id = one.id ?? sealed?.id ?? "";
  const uid = sealed?.uid ?? one.address?.uid;
  let next = position + 1;
  // A run of reasoning items of one response shares its follower (rs, rs, fc).
  while (context[next]?.type === "reasoning" && uidOfReasoning(context[next], question) === uid) {
    if (switches.consecutiveReasoning === "refuse") return withoutFollower("P01", id);
    next += 1;
  }
  const candidate = context[next];
  const follower = sealed?.follower;
  if (sealed === undefined || follower === undefined) {
    // Unreadable ciphertext was already refused; only the position can still be judged.
    return candidate === undefined || (candidate.type === "message" && candidate.item["role"] !== "assistant")
      ? withoutFollower("P01", id)
      : undefined;
  }
  if (follower === null) return withoutFollower("P01", id);
  const isFollower = (other: ContextItem): boolean => matches(other, sealed, question);
  if (candidate !== undefined && isFollower(candidate)) {
    // P06: under store:true an inline message needs its id as well. A call has its call id: the AI SDK refers to the
    // reasoning and sends the call without its id.
    const nameless = candidate.id === undefined && candidate.callId === undefined;
    return question.store && nameless && one.id !== undefined ? withoutFollower("P06", id) : undefined;
  }
  const later = context.findIndex((other, at) => at > next && isFollower(other));
  if (later === -1) return withoutFollower("P01", id);
  const regrouped = context.slice(next, later).every((other) => other.address?.uid === sealed.uid);
  return withoutFollower(regrouped ? "P09" : "P10", id);
}

function uidOfReasoning(one: ContextItem | undefined, question: HistoryQuestion): string | undefined {
  if (one?.address !== undefined) return one.address.uid;
  const ciphertext = one?.item["encrypted_content"];
  if (typeof ciphertext !== "string") return undefined;
  const opened = question.seal.open(ciphertext);
  return opened.ok ? opened.sealed.uid : undefined;
}

function matches(other: ContextItem, sealed: Sealed, question: HistoryQuestion): boolean {
  const { follower } = sealed;
  if (follower === null) return false;
  if (other.address !== undefined)
    return other.address.uid === sealed.uid && other.address.index === follower.index;
  if (other.id !== undefined && question.switches.unknownItemIds === "refuse") return false;
  if (other.type !== follower.type) return false;
  if (other.callId !== undefined) return other.callId === follower.callId;
  if (other.type !== "message" || other.item["role"] !== "assistant") return other.type !== "message";
  return question.switches.followerText === "any" || messageHash(other.item) === follower.text;
}

const rules: Readonly<Record<string, string>> = {
  message: "P03",
  function_call: "P02",
  custom_tool_call: "P02",
};

export function checkNeeded(options: {
  readonly one: ContextItem;
  readonly question: HistoryQuestion;
  readonly usable: ReadonlyMap<number, Sealed>;
  /** The ids of the reasoning items that were sent with their id. */
  readonly present: ReadonlySet<string | undefined>;
}): ApiRefusal | undefined {
  const { one, question, usable, present } = options;
  const { signed } = one;
  if (one.id === undefined || signed === undefined || signed.needs.length === 0) return undefined;
  const needs =
    question.switches.requiredReasoning === "all-preceding" ? signed.needs : nearestRun(signed.needs);
  for (const index of needs) {
    const needed = question.seal.itemId({ uid: signed.uid, at: signed.at, index }, "reasoning");
    if (present.has(needed)) continue;
    // P05: it is there, but its id was removed.
    const stripped = [...usable.values()].some((sealed) => sealed.id === needed);
    return withoutReasoning(stripped ? "P05" : (rules[one.type] ?? "P04"), one.id, one.type, needed);
  }
  return undefined;
}

function nearestRun(indexes: readonly number[]): readonly number[] {
  let from = indexes.length - 1;
  while (from > 0 && indexes[from - 1] === (indexes[from] ?? 0) - 1) from -= 1;
  return indexes.slice(from);
}
