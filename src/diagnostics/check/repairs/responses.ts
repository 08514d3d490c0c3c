/**
 * Remedies for Responses histories.
 *
 * @module
 */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import { HEAD } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { isCallType, isOutputType } from "../item-kinds.ts";
import { arrayText, textMember, withMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import { drop, mappedCallId, type Repair, type Repairer } from "./repair.ts";

export const repairResponses: Repairer = ({ rule, index }, history) => {
  const at = { index };
  const text = history.pieces[index]?.text ?? "";
  switch (rule) {
    case "R01":
    case "R16":
      return [drop(rule, at, "reasoning")];
    case "R02":
    case "R03":
    case "R05":
      return loosen(rule, history, index);
    case "R04":
      return [drop(rule, at, "the second copy of an item")];
    case "R06":
      return [{ rule, edit: { do: "close", at }, what: "closed the call with a constant result" }];
    case "R07":
      return orphanOutput(rule, history, index);
    case "R08":
      return outputsBack(rule, history, index);
    case "R09":
      return renamed(rule, history, textMember(text, "call_id") ?? "");
    case "R10":
      return [
        { rule, edit: { do: "set", at, field: "summary", value: "[]" }, what: "added an empty summary" },
      ];
    case "R11":
      return [{ rule, edit: { do: "strip", at, field: "status" }, what: "removed status" }];
    case "R17":
      return [drop(rule, at, "a message without content")];
    case "R12":
      return assistantParts(rule, index, text);
    case "R13":
      return [{ rule, edit: { do: "set", at, field: "output", value: '""' }, what: "added an empty output" }];
    case "R14":
      return index === HEAD
        ? [
            {
              rule,
              edit: { do: "head", field: "previous_response_id", value: undefined },
              what: "removed previous_response_id",
            },
          ]
        : [drop(rule, at, "a reference to an item the server would have to remember")];
    default:
      return [];
  }
};

/** A group that cannot go whole goes without its ids, and so without its reasoning and hosted items (law 2). */
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

/** A call that was lost leaves the response before it in pieces: what is left of that goes without ids (law 2). */
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

/** Results that stand further down come back behind their calls; R06 closes calls that have none. */
function outputsBack(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const repairs: Repair[] = [];
  // Back to the response the input broke into.
  for (let at = index - 1; at >= 0; at -= 1) {
    const { type, callId = "" } = lookup.outline(at);
    if (isOutputType(type)) continue;
    if (!isCallType(type)) break;
    const { results } = lookup.ids(callId);
    const answered = results.some((result) => result.index > at && result.index < index);
    const later = results.find((result) => result.index > index);
    if (answered || later === undefined) continue;
    repairs.unshift({
      rule,
      edit: { do: "move", at: { index: later.index }, behind: at },
      what: "moved the output behind its call",
    });
  }
  return repairs;
}

/** Empty ids are told apart by their order: the first call belongs to the first output. */
function renamed(rule: string, history: History, id: string): readonly Repair[] {
  const { calls, results } = lookupOf(history).ids(id);
  return [calls, results].flatMap((spots) =>
    spots.map((at, nth): Repair => {
      const callId = mappedCallId(id, id === "" ? String(nth + 1) : "");
      return { rule, edit: { do: "rename", at, callId }, what: "mapped the call id" };
    }),
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
  return [
    {
      rule,
      edit: { do: "set", at: { index }, field: "content", value: arrayText(kept) },
      what: "made the assistant's parts output_text",
      ...(kept.length < parts.length ? { lost: "parts of an assistant message that are no text" } : {}),
    },
  ];
}
