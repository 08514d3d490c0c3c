/**
 * Remedies for chat histories.
 *
 * @module
 */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { arrayText, textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import { drop, mappedCallId, nineCharacterId, type Repair, type Repairer } from "./repair.ts";

const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details", "content_thinking"];

export const repairChat: Repairer = (violation, history) => {
  const { rule, index, part, message } = violation;
  const at = part === undefined ? { index } : { index, part };
  const text = history.pieces[index]?.text ?? "";
  switch (rule) {
    case "Q01":
      return unanswered(violation, history);
    case "Q02":
      return [drop(rule, at, "a tool message without its call")];
    case "Q03":
      // Reasoning that is gone cannot be made up: thinking off is what the vendors take instead (V01, V02).
      return history.head === undefined
        ? []
        : [
            {
              rule,
              edit: { do: "head", field: "thinking", value: '{"type":"disabled"}' },
              what: "switched thinking off",
            },
          ];
    case "Q04":
    case "Q05":
      return REASONING_FIELDS.filter(
        (field) =>
          rule === "Q05" ||
          message.includes(field) ||
          (field === "content_thinking" && message.includes("'thinking'")),
      ).map((field) => ({
        rule,
        edit: { do: "strip", at: { index }, field },
        what: `removed ${field}`,
        lost: "reasoning",
      }));
    case "Q06":
      return uniqueDetails(rule, history, index);
    case "Q07":
      return [
        {
          rule,
          edit: { do: "add", before: index, role: "assistant", text: "(interrupted)" },
          what: 'added an assistant message before the user: "(interrupted)"',
        },
      ];
    case "Q08":
      return renamed(violation, history);
    case "Q09":
      return withContent(rule, index, text);
    case "Q10":
      return [drop(rule, { index }, "a message of an unknown role")];
    case "Q11":
      return wholeCall(violation, text);
    default:
      return [];
  }
};

function unanswered({ rule, index }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const answered = new Set<string | undefined>();
  let end = index + 1;
  for (; lookup.outline(end).role === "tool"; end += 1) answered.add(lookup.outline(end).callId);
  return lookup.calls(index).flatMap((call, part): readonly Repair[] => {
    const id = textMember(call, "id") ?? "";
    if (answered.has(id)) return [];
    const later = lookup.ids(id).results.find((result) => result.index >= end);
    const edit =
      later === undefined
        ? ({ do: "close", at: { index, part } } as const)
        : ({ do: "move", at: { index: later.index }, behind: index } as const);
    const what =
      later === undefined
        ? "closed the call with a constant result"
        : "moved the tool message behind its call";
    return [{ rule, edit, what }];
  });
}

function uniqueDetails(rule: string, { pieces }: History, index: number): readonly Repair[] {
  const seen = new Set<string>();
  const fresh = (detail: string): boolean => {
    const key =
      textMember(detail, "id") ??
      (textMember(detail, "type") === "reasoning.encrypted" ? sliceMember(detail, "data") : undefined);
    if (key === undefined) return true;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
  for (const { text } of pieces.slice(0, index)) detailsOf(text).forEach(fresh);
  const kept = detailsOf(pieces[index]?.text ?? "").filter(fresh);
  const edit =
    kept.length === 0
      ? ({ do: "strip", at: { index }, field: "reasoning_details" } as const)
      : ({ do: "set", at: { index }, field: "reasoning_details", value: arrayText(kept) } as const);
  return [{ rule, edit, what: "left out the copies in reasoning_details", lost: "copies of reasoning" }];
}

function detailsOf(text: string): readonly string[] {
  return sliceArray(sliceMember(text, "reasoning_details") ?? "");
}

/** Every call and answer with this id. Empty and missing ids are told apart by their order. */
function renamed({ rule, index, part, message }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const id =
    (part === undefined ? lookup.outline(index).callId : textMember(lookup.calls(index)[part] ?? "", "id")) ??
    "";
  const nine = message.startsWith("Tool call id was");
  const { calls, results } = lookup.ids(id);
  return [calls, results].flatMap((spots) =>
    spots.map((at, nth): Repair => {
      const name = id === "" ? `#${nth + 1}` : id;
      const callId = nine ? nineCharacterId(name) : mappedCallId(name);
      return { rule, edit: { do: "rename", at, callId }, what: "mapped the call id" };
    }),
  );
}

function withContent(rule: string, index: number, text: string): readonly Repair[] {
  const at = { index };
  if (sliceMember(text, "tool_calls") === "[]")
    return [{ rule, edit: { do: "strip", at, field: "tool_calls" }, what: "removed an empty tool_calls" }];
  if (textMember(text, "role") === "tool")
    return [{ rule, edit: { do: "set", at, field: "content", value: '""' }, what: "added an empty content" }];
  return [drop(rule, at, "a message that says nothing")];
}

function wholeCall({ rule, index, part, message }: Violation, text: string): readonly Repair[] {
  const calls = sliceArray(sliceMember(text, "tool_calls") ?? "");
  if (part === undefined)
    return calls
      .slice(128)
      .map((_, one) => drop(rule, { index, part: 128 + one }, "a call beyond the 128th"));
  if (message.includes(".name'")) return [drop(rule, { index, part }, "a call without a name")];
  const given = sliceMember(sliceMember(calls[part] ?? "", "function") ?? "", "arguments");
  const value = given === undefined || given === "null" ? '"{}"' : JSON.stringify(given);
  const edit = { do: "set", at: { index, part }, field: "function.arguments", value } as const;
  return [{ rule, edit, what: "put the arguments in as text" }];
}
