/** Applies edits to a list of chat messages. A part is a call of an assistant message. */

import { sliceArray, sliceMember } from "../../base/support/index.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { arrayText, textMember, withMember, withoutMember } from "./json-text.ts";
import { editPieces, type PieceList, type PieceWords, type Slot } from "./piece-list.ts";

export function editChat(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  return editPieces(slots, edits, WORDS);
}

const WORDS: PieceWords = {
  parts: "tool_calls",
  message: (role, text) => JSON.stringify({ role, content: text }),
  callIdPath: (_, part) => (part === undefined ? ["tool_call_id"] : ["tool_calls", part, "id"]),
  toolNamePath: (text, part) =>
    part === undefined ? ["name"] : ["tool_calls", part, calledMember(callsOf(text)[part] ?? ""), "name"],
  stripped: withoutField,
  close(list, { index, part = 0 }) {
    const call = callsOf(list.now(index))[part];
    if (call === undefined) return;
    const answer = { role: "tool", tool_call_id: textMember(call, "id") ?? "", content: LOST_RESULT };
    list.add(behindAnswers(list, index), JSON.stringify(answer));
  },
  move: (list, { index }, behind) => list.move(index, behindAnswers(list, behind)),
  finished: (text, _, dropped) => (dropped.size === 0 ? text : withoutCalls(text, dropped)),
};

/** The member of a call that names the tool. */
export function calledMember(call: string): "function" | "custom" {
  return textMember(call, "type") === "custom" ? "custom" : "function";
}

function callsOf(text: string): readonly string[] {
  return sliceArray(sliceMember(text, "tool_calls") ?? "");
}

function behindAnswers(list: PieceList, call: number): number {
  let at = call + 1;
  while (textMember(list.old(at), "role") === "tool") at += 1;
  return at;
}

/** Thoughts in the parts of `content` are recognised by their type, others by their field. */
function withoutField(text: string, field: string): string {
  if (field !== "content_thinking") return withoutMember(text, field);
  const parts = sliceArray(sliceMember(text, "content") ?? "");
  const kept = parts.filter((part) => textMember(part, "type") !== "thinking");
  return withMember(text, "content", arrayText(kept));
}

function withoutCalls(whole: string, dropped: ReadonlySet<number>): string | undefined {
  const calls = callsOf(whole).filter((_, part) => !dropped.has(part));
  if (calls.length > 0) return withMember(whole, "tool_calls", arrayText(calls));
  const text = withoutMember(whole, "tool_calls");
  const content = sliceMember(text, "content");
  return content === undefined || content === "null" || content === '""' ? undefined : text;
}
