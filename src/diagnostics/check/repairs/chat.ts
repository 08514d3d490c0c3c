/** Remedies for chat histories. */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import { calledMember } from "../edit-chat.ts";
import type { History } from "../history.ts";
import { arrayText, textMember } from "../json-text.ts";
import { orphanAnswer, renamedCallId, unanswered } from "./chat-pairs.ts";
import { lookupOf, oncePerHistory } from "./lookup.ts";
import { drop, type Remedies, type Repair, setField, spotOf, strip } from "./repair.ts";
import { thinkingOff } from "./thinking-off.ts";
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
  Q02: orphanAnswer,
  // Lost reasoning cannot be invented. The vendors accept the request with thinking off instead (V01, V02).
  Q03: ({ rule }, history, aim) => thinkingOff(rule, history, aim),
  Q04: ({ rule, index, message }) => {
    const field = namedField(message);
    return field === undefined ? [] : [strip(rule, { index }, field, "reasoning")];
  },
  Q05: ({ rule, index }, { pieces }) => withoutReasoning(rule, index, pieces[index]?.text ?? ""),
  Q06: ({ rule, index }, history) => uniqueDetails(rule, history, index),
  Q07: ({ rule, index }) => [
    {
      rule,
      edit: { do: "add", before: index, role: "assistant", text: "(interrupted)" },
      what: 'added an assistant message before the user: "(interrupted)"',
    },
  ],
  Q08: renamedCallId,
  Q09: ({ rule, index }, { pieces }) => withContent(rule, index, pieces[index]?.text ?? ""),
  Q10: ({ rule, index }) => [drop(rule, { index }, "a message of an unknown role")],
  Q11: wholeCall,
  Q12: namedCall,
};

/** The field of reasoning that a refusal names. One name may be the beginning of another. */
export function namedField(message: string): string | undefined {
  if (message.includes("Invalid value: 'thinking'")) return "content_thinking";
  return REASONING_FIELDS.find((field) => new RegExp(`\\b${field}\\b`).test(message));
}

export function withoutReasoning(rule: string, index: number, text: string): readonly Repair[] {
  return REASONING_FIELDS.filter((field) => carries(text, field)).map((field) =>
    strip(rule, { index }, field, "reasoning"),
  );
}

export function carries(text: string, field: string): boolean {
  if (field !== "content_thinking") return sliceMember(text, field) !== undefined;
  return sliceArray(sliceMember(text, "content") ?? "").some(
    (part) => textMember(part, "type") === "thinking",
  );
}

function uniqueDetails(rule: string, history: History, index: number): readonly Repair[] {
  const kept = keptDetails(history).get(index) ?? [];
  const what = "left out the copies in reasoning_details";
  const repair =
    kept.length === 0
      ? strip(rule, { index }, "reasoning_details")
      : setField(rule, { index }, "reasoning_details", arrayText(kept), what);
  return [{ ...repair, what, lost: "copies of reasoning" }];
}

/** The entries of each message that no earlier message has. */
const keptDetails = oncePerHistory(({ pieces }): ReadonlyMap<number, readonly string[]> => {
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
  return new Map(pieces.map(({ text }, index) => [index, detailsOf(text).filter(fresh)]));
});

function detailsOf(text: string): readonly string[] {
  return sliceArray(sliceMember(text, "reasoning_details") ?? "");
}

function withContent(rule: string, index: number, text: string): readonly Repair[] {
  const at = { index };
  if (sliceMember(text, "tool_calls") === "[]")
    return [{ ...strip(rule, at, "tool_calls"), what: "removed an empty tool_calls" }];
  // A refusal, a recording or a call in the old form speaks for the message.
  if (["refusal", "audio", "function_call"].some((field) => isGiven(text, field))) return [];
  if (textMember(text, "role") === "tool")
    return [setField(rule, at, "content", '""', "added an empty content")];
  return [drop(rule, at, "a message that says nothing")];
}

function isGiven(text: string, field: string): boolean {
  const value = sliceMember(text, field);
  return value !== undefined && value !== "null" && value !== '""';
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
