/**
 * The rules about a history as a whole (groups A–D of failures.md). Stateless for store:false: everything needed is in
 * the items. The order follows the live API as far as reports show it: ids, ciphertext, pairing, tool calls.
 */

import type { ApiRefusal } from "../../api-refusal.ts";
import { readsSealsOf } from "../../model-traits.ts";
import type { Sealed } from "../../seal.ts";
import type { ContextItem, HistoryQuestion } from "./context.ts";
import { checkFollower, checkNeeded } from "./pairing.ts";
import {
  ciphertextRefused,
  duplicateItem,
  fingerprintChanged,
  itemNotFound,
  itemNotPersisted,
  missingParameter,
  notAReasoningModel,
  prefixChanged,
} from "./refusals.ts";
import { checkToolPairs } from "./tool-pairs.ts";

export interface HistoryAnswer {
  /** In order of importance; a strict server answers with the first. */
  readonly refusals: readonly ApiRefusal[];
  /** The context positions of reasoning (and compaction) the model may use, with the sealed content. */
  readonly usable: ReadonlyMap<number, Sealed>;
  /** The ids silently dropped because their prefix changed. */
  readonly dropped: readonly string[];
}

/** Items that only a model can have made: an unknown id on one of them was invented or no longer exists. */
const outputTypes = new Set([
  "function_call",
  "custom_tool_call",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "computer_call",
  "mcp_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "program",
  "program_output",
]);

export function judgeHistory(question: HistoryQuestion): HistoryAnswer {
  const refusals: ApiRefusal[] = [];
  const note = (refusal: ApiRefusal | undefined): boolean => {
    if (refusal !== undefined) refusals.push(refusal);
    return refusal === undefined;
  };
  const { context } = question;
  if (!question.traits.reasoning && context.some((one) => one.type === "reasoning"))
    note(notAReasoningModel());
  note(checkDuplicates(context));
  for (const one of context) {
    note(checkKnownId(one, question));
    note(checkFingerprint(one, question));
  }

  const usable = new Map<number, Sealed>();
  const dropped: string[] = [];
  for (const [position, one] of context.entries()) {
    if (one.type !== "reasoning" && one.type !== "compaction") continue;
    const opened = ownCopy(one) ?? openCiphertext(one, question);
    if ("rule" in opened) {
      note(opened);
      continue;
    }
    usable.set(position, opened);
    if (one.type === "reasoning" && !note(checkPrefix(opened, position, question, dropped)))
      usable.delete(position);
  }
  const present = new Set(context.filter((one) => one.type === "reasoning").map(({ id }) => id));
  for (const [position, one] of context.entries()) {
    if (one.type === "reasoning") note(checkFollower({ position, question, sealed: usable.get(position) }));
    else note(checkNeeded({ one, question, usable, present }));
  }
  for (const refusal of checkToolPairs(context, question.switches)) note(refusal);
  for (const [position, sealed] of usable) if (dropped.includes(sealed.id)) usable.delete(position);
  return { refusals, usable, dropped };
}

function checkDuplicates(context: readonly ContextItem[]): ApiRefusal | undefined {
  const seen = new Set<string>();
  for (const { id, type } of context) {
    // The id of a local shell output may be that of its call.
    if (id === undefined || type === "local_shell_call_output") continue;
    if (seen.has(id)) return duplicateItem(id);
    seen.add(id);
  }
  return undefined;
}

function checkKnownId(one: ContextItem, question: HistoryQuestion): ApiRefusal | undefined {
  if (one.index === undefined || one.id === undefined) return undefined;
  if (one.type === "image_generation_call" && !question.store) {
    return question.switches.imageItems === "refuse" ? itemNotPersisted("T14", one.id) : undefined;
  }
  const made = outputTypes.has(one.type) || (one.type === "message" && one.item["role"] === "assistant");
  if (!made || question.switches.unknownItemIds === "accept") return undefined;
  if (one.signed !== undefined) return undefined;
  return question.store ? itemNotFound("X-unknown-id", one.id) : itemNotPersisted("X-unknown-id", one.id);
}

function checkFingerprint(one: ContextItem, question: HistoryQuestion): ApiRefusal | undefined {
  const issued = one.id === undefined ? undefined : question.seal.fingerprintOf(one.id);
  if (one.id === undefined || issued === undefined || one.item["fingerprint"] === issued) return undefined;
  return fingerprintChanged(`input[${one.index}].fingerprint`, one.id);
}

/** A stored item needs no ciphertext; if ciphertext is sent anyway, it is judged. */
function ownCopy(one: ContextItem): Sealed | undefined {
  const sent = one.index !== undefined && typeof one.item["encrypted_content"] === "string";
  return sent ? undefined : one.stored;
}

function openCiphertext(one: ContextItem, question: HistoryQuestion): Sealed | ApiRefusal {
  const { id, item } = one;
  const { switches, seal } = question;
  const at = `input[${one.index}]`;
  const ciphertext = item["encrypted_content"];
  if (typeof ciphertext !== "string") {
    if (id === undefined) return missingParameter("I09", `${at}.id`);
    if (switches.bareReasoningId === "accept") return bareReasoning(id, question);
    return question.store ? itemNotFound("I01", id) : itemNotPersisted("I01", id);
  }
  if (id === undefined && one.type === "reasoning" && switches.reasoningWithoutId === "refuse") {
    return missingParameter("I09", `${at}.id`);
  }
  if (id !== undefined && !question.store && switches.reasoningIdUnstored === "refuse") {
    return itemNotPersisted("I01", id);
  }
  const refused = (rule: string, reason: "E01" | "E02" | "E03" | "E04"): ApiRefusal =>
    ciphertextRefused({ rule, reason, id, ciphertext });
  const opened = seal.open(ciphertext);
  if (!opened.ok) return opened.rotated ? refused("E01", "E01") : refused("E02", "E02");
  const { sealed } = opened;
  if (sealed.stage === "added") return refused("E07", "E02");
  if (id !== undefined && sealed.id !== id) return refused("E03", "E03");
  if (sealed.account !== question.account) return refused("E04", "E04");
  return readsSealsOf(question.model, sealed.model, switches.modelBinding) ? sealed : refused("E05", "E02");
}

/** Counter-evidence to I01: the id alone is enough, but the model has no notes from it. */
function bareReasoning(id: string, question: HistoryQuestion): Sealed | ApiRefusal {
  const address = question.seal.readId(id);
  if (address === undefined) return itemNotPersisted("I01", id);
  return {
    stage: "completed",
    id,
    uid: address.uid,
    index: address.index,
    model: question.model,
    account: question.account,
    prefix: "",
    follower: { index: address.index + 1, type: "" },
    notes: "",
  };
}

function checkPrefix(
  sealed: Sealed,
  position: number,
  question: HistoryQuestion,
  dropped: string[],
): ApiRefusal | undefined {
  const { prefixBinding } = question.switches;
  const binding =
    prefixBinding === "model" ? (question.traits.prefixBound ? "silent" : "off") : prefixBinding;
  if (binding === "off" || sealed.prefix === "" || sealed.prefix === question.chain[position])
    return undefined;
  if (binding === "refuse") return prefixChanged(sealed.id);
  dropped.push(sealed.id);
  return undefined;
}
