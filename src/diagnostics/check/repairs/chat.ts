/** Remedies for chat histories. */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import { calledMember } from "../edit-chat.ts";
import type { History } from "../history.ts";
import { arrayText, textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import {
  closeCall,
  drop,
  dropped,
  mappedCallId,
  moveBehind,
  nineCharacterId,
  type Remedies,
  rename,
  type Repair,
  setField,
  setHead,
  spotOf,
  strip,
} from "./repair.ts";
import { toolRenamed } from "./tool-names.ts";

export const REASONING_FIELDS = [
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "content_thinking",
  "reasoning_text",
  "reasoning_opaque",
  "thinking_blocks",
];

export const CHAT_REMEDIES: Remedies = {
  Q01: unanswered,
  Q02: dropped("a tool message without its call"),
  // Lost reasoning cannot be invented. The vendors accept the request with thinking off instead (V01, V02).
  Q03: ({ rule }, { head }) =>
    head === undefined ? [] : [setHead(rule, "thinking", '{"type":"disabled"}', "switched thinking off")],
  Q04: ({ rule, index, message }) =>
    REASONING_FIELDS.filter(
      (field) => message.includes(field) || (field === "content_thinking" && message.includes("'thinking'")),
    ).map((field) => strip(rule, { index }, field, "reasoning")),
  Q05: ({ rule, index }) => REASONING_FIELDS.map((field) => strip(rule, { index }, field, "reasoning")),
  Q06: ({ rule, index }, history) => uniqueDetails(rule, history, index),
  Q07: ({ rule, index }) => [
    {
      rule,
      edit: { do: "add", before: index, role: "assistant", text: "(interrupted)" },
      what: 'added an assistant message before the user: "(interrupted)"',
    },
  ],
  Q08: renamed,
  Q09: ({ rule, index }, { pieces }) => withContent(rule, index, pieces[index]?.text ?? ""),
  Q10: ({ rule, index }) => [drop(rule, { index }, "a message of an unknown role")],
  Q11: wholeCall,
  Q12: namedCall,
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
    return [
      later === undefined
        ? closeCall(rule, { index, part })
        : moveBehind(rule, { index: later.index }, index, "moved the tool message behind its call"),
    ];
  });
}

function uniqueDetails(rule: string, { pieces }: History, index: number): readonly Repair[] {
  const seen = new Set<string>();
  const fresh = (detail: string): boolean => {
    const type = textMember(detail, "type");
    const named = textMember(detail, type === "reasoning.text" ? "signature" : "id");
    const key = named || (type === "reasoning.encrypted" ? sliceMember(detail, "data") : undefined);
    if (key === undefined || key === "") return true;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
  for (const { text } of pieces.slice(0, index)) detailsOf(text).forEach(fresh);
  const kept = detailsOf(pieces[index]?.text ?? "").filter(fresh);
  const what = "left out the copies in reasoning_details";
  const repair =
    kept.length === 0
      ? strip(rule, { index }, "reasoning_details")
      : setField(rule, { index }, "reasoning_details", arrayText(kept), what);
  return [{ ...repair, what, lost: "copies of reasoning" }];
}

function detailsOf(text: string): readonly string[] {
  return sliceArray(sliceMember(text, "reasoning_details") ?? "");
}

/** Every call and result with this id. Empty and missing ids are matched by their order. */
function renamed({ rule, index, part, message }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const id =
    (part === undefined ? lookup.outline(index).callId : textMember(lookup.calls(index)[part] ?? "", "id")) ??
    "";
  const nine = message.startsWith("Tool call id was");
  const { calls, results } = lookup.ids(id);
  return [calls, results].flatMap((spots) =>
    spots.map((at, nth) => {
      const name = id === "" ? `#${nth + 1}` : id;
      return rename(rule, at, nine ? nineCharacterId(name) : mappedCallId(name));
    }),
  );
}

function withContent(rule: string, index: number, text: string): readonly Repair[] {
  const at = { index };
  if (sliceMember(text, "tool_calls") === "[]")
    return [{ ...strip(rule, at, "tool_calls"), what: "removed an empty tool_calls" }];
  if (textMember(text, "role") === "tool")
    return [setField(rule, at, "content", '""', "added an empty content")];
  return [drop(rule, at, "a message that says nothing")];
}

function namedCall(found: Violation, history: History): readonly Repair[] {
  const { rule, index, part } = found;
  const text = history.pieces[index]?.text ?? "";
  const call = part === undefined ? text : (lookupOf(history).calls(index)[part] ?? "");
  const named = part === undefined ? text : (sliceMember(call, calledMember(call)) ?? "");
  const name = textMember(named, "name") ?? "";
  const callId = part === undefined ? undefined : textMember(call, "id");
  return toolRenamed(rule, history, spotOf(found), { name, callId });
}

function wholeCall({ rule, index, part, message }: Violation, history: History): readonly Repair[] {
  const calls = lookupOf(history).calls(index);
  if (part === undefined)
    return calls
      .slice(128)
      .map((_, one) => drop(rule, { index, part: 128 + one }, "a call beyond the 128th"));
  if (message.includes(".name'")) return [drop(rule, { index, part }, "a call without a name")];
  const call = calls[part] ?? "";
  const member = calledMember(call);
  const [field, empty] = member === "custom" ? ["input", '""'] : ["arguments", '"{}"'];
  const given = sliceMember(sliceMember(call, member) ?? "", field);
  const value = given === undefined || given === "null" ? empty : JSON.stringify(given);
  return [setField(rule, { index, part }, `${member}.${field}`, value, "turned the arguments into text")];
}
