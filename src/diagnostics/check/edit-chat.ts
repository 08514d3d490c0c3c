/**
 * Edits made on a list of chat messages. A part is a call of an assistant message.
 *
 * @module
 */

import { sliceArray, sliceMember } from "../../base/support/index.ts";
import { fresh } from "./edit-responses.ts";
import { Additions, type Slot } from "./element-list.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { arrayText, atPath, textMember, withMember, withoutMember } from "./json-text.ts";

export function editChat(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  const messages: (Slot | undefined)[] = [...slots];
  const added = new Additions();
  const droppedCalls = new Map<number, Set<number>>();
  const change = (index: number, make: (text: string) => string): void => {
    const slot = messages[index];
    if (slot !== undefined) messages[index] = { ...slot, text: make(slot.text) };
  };
  for (const edit of edits) {
    if (edit.do === "add") {
      added.push({
        before: edit.before,
        slot: fresh(JSON.stringify({ role: edit.role, content: edit.text })),
      });
      continue;
    }
    if (!("at" in edit)) continue;
    const { index, part } = edit.at;
    if (edit.do === "drop" && part !== undefined) {
      droppedCalls.set(index, (droppedCalls.get(index) ?? new Set()).add(part));
    } else if (edit.do === "drop") messages[index] = undefined;
    else if (edit.do === "strip") change(index, (text) => withoutField(text, edit.field));
    else if (edit.do === "set" && part !== undefined)
      change(index, (text) => atPath(text, ["tool_calls", part, ...edit.field.split(".")], () => edit.value));
    else if (edit.do === "set") change(index, (text) => withMember(text, edit.field, edit.value));
    else if (edit.do === "rename") change(index, (text) => renamed(text, part, edit.callId));
    else if (edit.do === "close") {
      const call = callsOf(slots[index]?.text ?? "")[part ?? 0];
      if (call !== undefined)
        added.push({ before: behindAnswers(slots, index), slot: fresh(answerTo(call)) });
    } else {
      const slot = messages[index];
      if (slot === undefined) continue;
      messages[index] = undefined;
      added.push({ before: behindAnswers(slots, edit.behind), slot });
    }
  }
  for (const [index, parts] of droppedCalls) {
    const slot = messages[index];
    if (slot !== undefined) messages[index] = withoutCalls(slot, parts);
  }
  return [...messages, undefined].flatMap((slot, index) => [
    ...added.at(index),
    ...(slot === undefined ? [] : [slot]),
  ]);
}

function callsOf(text: string): readonly string[] {
  return sliceArray(sliceMember(text, "tool_calls") ?? "");
}

function behindAnswers(slots: readonly Slot[], call: number): number {
  let at = call + 1;
  while (textMember(slots[at]?.text ?? "", "role") === "tool") at += 1;
  return at;
}

/** Thoughts among the parts of `content` are told by their type, the others by their field. */
function withoutField(text: string, field: string): string {
  if (field !== "content_thinking") return withoutMember(text, field);
  const parts = sliceArray(sliceMember(text, "content") ?? "");
  return withMember(
    text,
    "content",
    arrayText(parts.filter((part) => textMember(part, "type") !== "thinking")),
  );
}

function withoutCalls(slot: Slot, parts: ReadonlySet<number>): Slot | undefined {
  const calls = callsOf(slot.text).filter((_, part) => !parts.has(part));
  if (calls.length > 0) return { ...slot, text: withMember(slot.text, "tool_calls", arrayText(calls)) };
  const text = withoutMember(slot.text, "tool_calls");
  const content = sliceMember(text, "content");
  return content === undefined || content === "null" || content === '""' ? undefined : { ...slot, text };
}

function renamed(text: string, part: number | undefined, callId: string): string {
  const id = JSON.stringify(callId);
  if (part === undefined) return withMember(text, "tool_call_id", id);
  const calls = callsOf(text).map((call, at) => (at === part ? withMember(call, "id", id) : call));
  return withMember(text, "tool_calls", arrayText(calls));
}

function answerTo(call: string): string {
  return JSON.stringify({ role: "tool", tool_call_id: textMember(call, "id") ?? "", content: LOST_RESULT });
}
