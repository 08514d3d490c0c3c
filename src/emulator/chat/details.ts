/**
 * A router's `reasoning_details[]` (V08): the array must come back unchanged. The Responses API is behind it, so
 * refusals use its messages: the same item twice (I04), ciphertext that is stale, foreign or invented (E01–E04),
 * reasoning without its follower (P01).
 */

import { type JsonObject, stringOf } from "../../base/support/index.ts";
import { ciphertextRefused, duplicateItem, withoutFollower } from "../responses/judge/refusals.ts";
import { hashText, type Sealed } from "../seal.ts";
import type { CarriedReasoning, ChatMessage } from "./messages.ts";
import type { Findings, ReasoningQuestion } from "./reasoning.ts";
import { type ChatRefusal, inWordsOf } from "./refusals.ts";

export const detailsFormat = "openai-responses-v1";

export function judgeDetails(
  carried: CarriedReasoning,
  message: ChatMessage,
  question: ReasoningQuestion,
  findings: Findings,
): void {
  for (const detail of carried.details) {
    if (detail["type"] !== "reasoning.encrypted") continue;
    const opened = openDetail(detail, message, question, findings);
    if ("rule" in opened) {
      findings.refusals.push(opened);
      continue;
    }
    findings.usable.set(message.index, opened.notes);
    findings.sent.push(opened.id);
    const issued = question.issued.find(({ id }) => id === opened.id);
    if (issued !== undefined && summaryOf(carried.details, detail["index"]) !== issued.text)
      findings.modified.push(opened.id);
  }
}

function openDetail(
  detail: JsonObject,
  message: ChatMessage,
  { engine, request, account }: ReasoningQuestion,
  { sent }: Findings,
): Sealed | ChatRefusal {
  const ciphertext = stringOf(detail["data"]) ?? "";
  const id = stringOf(detail["id"]);
  const refused = (reason: "E01" | "E02" | "E03" | "E04"): ChatRefusal =>
    inWordsOf("openrouter", ciphertextRefused({ rule: "V08", reason, id, ciphertext }));
  const opened = engine.seal.open(ciphertext);
  if (!opened.ok) return refused(opened.rotated ? "E01" : "E02");
  const { sealed } = opened;
  if (sealed.model !== request.model) return refused("E02");
  if (id !== undefined && id !== sealed.id) return refused("E03");
  if (sealed.account !== account) return refused("E04");
  if (sent.includes(sealed.id)) return inWordsOf("openrouter", { ...duplicateItem(sealed.id), rule: "V08" });
  const { follower } = sealed;
  const followed =
    follower?.callId === undefined
      ? follower?.text === hashText(message.content)
      : message.calls.some((call) => call.id === follower.callId);
  return followed ? sealed : inWordsOf("openrouter", withoutFollower("V08", sealed.id));
}

/** A stream delivers a summary in several parts with one index; joined or not, it counts as the same. */
function summaryOf(details: readonly JsonObject[], index: unknown): string {
  return details
    .filter((one) => one["type"] === "reasoning.summary" && one["index"] === index)
    .map((one) => stringOf(one["summary"]) ?? "")
    .join("");
}
