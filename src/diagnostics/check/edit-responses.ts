/**
 * Edits made on a list of Responses items.
 *
 * @module
 */

import { Additions, type Slot } from "./element-list.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { isCallType, isOutputType } from "./item-kinds.ts";
import { textMember, withMember, withoutMember } from "./json-text.ts";

export function editResponses(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  const items: (Slot | undefined)[] = [...slots];
  const added = new Additions();
  const change = (index: number, make: (text: string) => string): void => {
    const slot = items[index];
    if (slot !== undefined) items[index] = { ...slot, text: make(slot.text) };
  };
  for (const edit of edits) {
    if (edit.do === "drop") items[edit.at.index] = undefined;
    else if (edit.do === "strip") change(edit.at.index, (text) => withoutMember(text, edit.field));
    else if (edit.do === "set") change(edit.at.index, (text) => withMember(text, edit.field, edit.value));
    else if (edit.do === "rename")
      change(edit.at.index, (text) => withMember(text, "call_id", JSON.stringify(edit.callId)));
    else if (edit.do === "close") {
      const call = slots[edit.at.index];
      if (call !== undefined)
        added.push({ before: behindCalls(slots, edit.at.index), slot: fresh(outputFor(call.text)) });
    } else if (edit.do === "move") {
      const slot = items[edit.at.index];
      if (slot === undefined) continue;
      items[edit.at.index] = undefined;
      added.push({ before: behindCalls(slots, edit.behind), slot });
    } else if (edit.do === "add") {
      added.push({
        before: edit.before,
        slot: fresh(JSON.stringify({ role: edit.role, content: edit.text })),
      });
    }
  }
  return [...items, undefined].flatMap((slot, index) => [
    ...added.at(index),
    ...(slot === undefined ? [] : [slot]),
  ]);
}

export function fresh(text: string): Slot {
  return { element: undefined, text };
}

/** Behind the calls of its response and the outputs that stand there already. */
function behindCalls(slots: readonly Slot[], call: number): number {
  let at = call + 1;
  while (at < slots.length) {
    const type = textMember(slots[at]?.text ?? "", "type") ?? "";
    if (!isCallType(type) && !isOutputType(type)) break;
    at += 1;
  }
  return at;
}

function outputFor(call: string): string {
  const type =
    textMember(call, "type") === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output";
  return JSON.stringify({ type, call_id: textMember(call, "call_id") ?? "", output: LOST_RESULT });
}
