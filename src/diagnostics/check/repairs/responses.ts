/** Remedies for Responses histories. */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import { HEAD, isOutputType, type Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { arrayText, textMember, withMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import {
  drop,
  dropped,
  type Remedies,
  type Repair,
  type Repairer,
  setField,
  setHead,
  strip,
} from "./repair.ts";
import { closedOrMoved, orphanOutput, outputsBack, renamedCallId } from "./responses-pairs.ts";
import { invalidId, loosen, orphanThought, repeatedId } from "./responses-runs.ts";
import { toolRenamed } from "./tool-names.ts";

const loosened: Repairer = ({ rule, index }, history) => loosen(rule, history, index);

export const RESPONSES_REMEDIES: Remedies = {
  R01: ({ rule, index }, history) => orphanThought(rule, history, index),
  R02: loosened,
  R03: loosened,
  R04: ({ rule, index }, history) => repeatedId(rule, history, index),
  R05: ({ rule, index }, history) => invalidId(rule, history, index),
  R06: closedOrMoved,
  R07: orphanOutput,
  R08: outputsBack,
  R09: renamedCallId,
  R10: ({ rule, index }) => [setField(rule, { index }, "summary", "[]", "added an empty summary")],
  R11: ({ rule, index }) => [strip(rule, { index }, "status")],
  R12: ({ rule, index }, { pieces }) => assistantParts(rule, index, pieces[index]?.text ?? ""),
  R13({ rule, index }, history) {
    const empty = lookupOf(history).outline(index).type === "shell_call_output" ? "[]" : '""';
    return [setField(rule, { index }, "output", empty, "added an empty output")];
  },
  R14: withoutServer,
  R16: dropped("reasoning"),
  R17: dropped("a message without content"),
  R18({ rule, index }, history) {
    const text = history.pieces[index]?.text ?? "";
    const named = { name: textMember(text, "name") ?? "", callId: textMember(text, "call_id") };
    return toolRenamed(rule, history, { index }, named);
  },
};

/** What a reference stands for is not in the request. */
function withoutServer({ rule, index }: Violation, history: History): readonly Repair[] {
  if (index !== HEAD)
    return [drop(rule, { index }, "a reference to an item the server would have to remember")];
  return standsAlone(history)
    ? [setHead(rule, "previous_response_id", undefined, "removed previous_response_id")]
    : [];
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
