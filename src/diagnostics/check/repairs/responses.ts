/** Remedies for Responses histories. */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import { HEAD } from "../../../runtime/rules/index.ts";
import { isCallType, isOutputType } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { arrayText, textMember, withMember } from "../json-text.ts";
import { keptByServer } from "../server-state.ts";
import { lookupOf } from "./lookup.ts";
import {
  closeCall,
  drop,
  dropped,
  mappedCallId,
  moveBehind,
  type Remedies,
  rename,
  type Repair,
  type Repairer,
  setField,
  setHead,
  strip,
} from "./repair.ts";
import { toolRenamed } from "./tool-names.ts";

const loosened: Repairer = ({ rule, index }, history) => loosen(rule, history, index);

export const RESPONSES_REMEDIES: Remedies = {
  R01: dropped("reasoning"),
  R02: loosened,
  R03: loosened,
  R04: dropped("the second copy of an item"),
  R05: loosened,
  R06: ({ rule, index }) => [closeCall(rule, { index })],
  R07: ({ rule, index }, history) => orphanOutput(rule, history, index),
  R08: ({ rule, index }, history) => outputsBack(rule, history, index),
  R09: ({ rule, index }, history) => renamed(rule, history, lookupOf(history).outline(index).callId ?? ""),
  R10: ({ rule, index }) => [setField(rule, { index }, "summary", "[]", "added an empty summary")],
  R11: ({ rule, index }) => [strip(rule, { index }, "status")],
  R12: ({ rule, index }, { pieces }) => assistantParts(rule, index, pieces[index]?.text ?? ""),
  R13: ({ rule, index }) => [setField(rule, { index }, "output", '""', "added an empty output")],
  R14({ rule, index }, history) {
    if (index !== HEAD)
      return [drop(rule, { index }, "a reference to an item the server would have to remember")];
    return standsAlone(history)
      ? [setHead(rule, "previous_response_id", undefined, "removed previous_response_id")]
      : [];
  },
  R16: dropped("reasoning"),
  R17: dropped("a message without content"),
  R18({ rule, index }, history) {
    const text = history.pieces[index]?.text ?? "";
    const named = { name: textMember(text, "name") ?? "", callId: textMember(text, "call_id") };
    return toolRenamed(rule, history, { index }, named);
  },
};

/** A group that cannot be sent whole loses its ids, and so its reasoning and provider tool items (law 2). */
export function loosen(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const run = history.pieces[index]?.run;
  return (run === undefined ? [index] : lookup.run(run)).flatMap((at): readonly Repair[] => {
    const { type, id } = lookup.outline(at);
    if (type === "reasoning") return [drop(rule, { index: at }, "reasoning")];
    if (type !== "message" && !isCallType(type) && !isOutputType(type))
      return [drop(rule, { index: at }, `${type}, which needs its id`)];
    if (id === undefined) return [];
    return [{ rule, edit: { do: "strip", at: { index: at }, field: "id" }, what: "removed the item id" }];
  });
}

/** True if the input is complete without earlier responses: it is not empty, and each output has its call. */
function standsAlone(history: History): boolean {
  const lookup = lookupOf(history);
  if (history.pieces.length === 0) return false;
  return history.pieces.every((_, index) => {
    const { type, callId = "" } = lookup.outline(index);
    return !isOutputType(type) || lookup.ids(callId).calls.some((call) => call.index < index);
  });
}

/** A lost call leaves the response before it incomplete, so the rest of that response loses its ids (law 2). */
function orphanOutput(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const known = lookup.ids(lookup.outline(index).callId ?? "").calls.some((call) => call.index < index);
  let made = index - 1;
  while (made >= 0 && isOutputType(lookup.outline(made).type)) made -= 1;
  const broken = !known && history.pieces[made]?.run !== undefined;
  return [
    drop(rule, { index }, "an output without its call"),
    ...(broken ? loosen(rule, history, made) : []),
  ];
}

/** Moves later results back to their calls. R06 closes calls that have none. */
function outputsBack(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const repairs: Repair[] = [];
  // Back to the response that the input interrupts.
  for (let at = index - 1; at >= 0; at -= 1) {
    const { type, callId = "" } = lookup.outline(at);
    if (isOutputType(type)) continue;
    if (!isCallType(type)) break;
    const { results } = lookup.ids(callId);
    const answered = results.some((result) => result.index > at && result.index < index);
    const later = results.find((result) => result.index > index);
    if (answered || later === undefined) continue;
    repairs.unshift(moveBehind(rule, { index: later.index }, at, "moved the output behind its call"));
  }
  return repairs;
}

/** Empty ids are matched by their order: the first call belongs to the first output. */
function renamed(rule: string, history: History, id: string): readonly Repair[] {
  const { calls, results } = lookupOf(history).ids(id);
  // The output of a call that only the server has keeps the id that the server knows.
  if (calls.length < results.length && keptByServer(history).front) return [];
  return [calls, results].flatMap((spots) =>
    spots.map((at, nth) => rename(rule, at, mappedCallId(id, id === "" ? String(nth + 1) : ""))),
  );
}

function assistantParts(rule: string, index: number, text: string): readonly Repair[] {
  const parts = sliceArray(sliceMember(text, "content") ?? "");
  const kept = parts.flatMap((part) => {
    const type = textMember(part, "type");
    if (type === "output_text" || type === "refusal") return [part];
    return textMember(part, "text") === undefined ? [] : [withMember(part, "type", '"output_text"')];
  });
  if (kept.length === 0) return [drop(rule, { index }, "an assistant message without text")];
  const lost = kept.length < parts.length ? "parts of an assistant message that are not text" : undefined;
  const what = "changed the type of the assistant's parts to output_text";
  return [{ ...setField(rule, { index }, "content", arrayText(kept), what), lost }];
}
