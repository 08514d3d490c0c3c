/**
 * Edits made on a list of Anthropic messages. A message whose last block goes, goes too.
 *
 * @module
 */

import { sliceArray, sliceMember } from "../../base/support/index.ts";
import { fresh } from "./edit-responses.ts";
import { Additions, type Slot } from "./element-list.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { arrayText, textMember, withMember, withoutMember } from "./json-text.ts";

interface Draft {
  readonly slot: Slot;
  /** Undefined: not touched. */
  blocks: (string | undefined)[] | undefined;
  /** Results that go to the front. */
  front: string[];
  text: string;
  dropped: boolean;
}

export function editMessages(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  const drafts = slots.map((slot): Draft => ({
    slot,
    blocks: undefined,
    front: [],
    text: slot.text,
    dropped: false,
  }));
  const added = new Additions();
  const results = new Map<number, string[]>();
  for (const edit of edits) {
    if (edit.do === "add") {
      added.push({ before: edit.before, slot: message(edit.role, [textBlock(edit.text)]) });
      continue;
    }
    if (!("at" in edit)) continue;
    const draft = drafts[edit.at.index];
    if (draft === undefined) continue;
    const { part } = edit.at;
    if (edit.do === "close") {
      const call = blocksOf(draft)[part ?? 0];
      if (call === undefined) continue;
      const next = drafts[edit.at.index + 1];
      const result = resultFor(call);
      if (textMember(next?.slot.text ?? "", "role") === "user") next?.front.push(result);
      else results.set(edit.at.index, [...(results.get(edit.at.index) ?? []), result]);
    } else if (part === undefined) editWhole(draft, edit);
    else editBlock(draft, part, edit);
  }
  return drafts.flatMap((draft, index) => {
    const kept = finish(draft);
    const closing = results.get(index);
    return [
      ...added.at(index),
      ...(kept === undefined ? [] : [kept]),
      ...(closing === undefined ? [] : [message("user", closing)]),
      ...(index === drafts.length - 1 ? added.at(drafts.length) : []),
    ];
  });
}

function editWhole(draft: Draft, edit: Edit): void {
  if (edit.do === "drop") draft.dropped = true;
  else if (edit.do === "strip") draft.text = withoutMember(draft.text, edit.field);
  else if (edit.do === "set") draft.text = withMember(draft.text, edit.field, edit.value);
}

function editBlock(draft: Draft, part: number, edit: Edit): void {
  const blocks = (draft.blocks ??= [...blocksOf(draft)]);
  const block = blocks[part];
  if (block === undefined) return;
  if (edit.do === "drop") blocks[part] = undefined;
  else if (edit.do === "strip") blocks[part] = withoutMember(block, edit.field);
  else if (edit.do === "set") blocks[part] = withMember(block, edit.field, edit.value);
  else if (edit.do === "rename") {
    const field = textMember(block, "type") === "tool_result" ? "tool_use_id" : "id";
    blocks[part] = withMember(block, field, JSON.stringify(edit.callId));
  } else if (edit.do === "move") {
    blocks[part] = undefined;
    draft.front.push(block);
  }
}

function blocksOf({ slot }: Draft): readonly string[] {
  const content = sliceMember(slot.text, "content");
  return content?.startsWith('"') === true
    ? [`{"type":"text","text":${content}}`]
    : sliceArray(content ?? "");
}

function finish(draft: Draft): Slot | undefined {
  if (draft.dropped) return undefined;
  if (draft.blocks === undefined && draft.front.length === 0) return { ...draft.slot, text: draft.text };
  const own = (draft.blocks ?? blocksOf(draft)).filter((block) => block !== undefined);
  const lead = own.findIndex((block) => textMember(block, "type") !== "tool_result");
  const at = lead === -1 ? own.length : lead;
  const blocks = [...own.slice(0, at), ...draft.front, ...own.slice(at)];
  if (blocks.length === 0) return undefined;
  return { ...draft.slot, text: withMember(draft.text, "content", arrayText(blocks)) };
}

function message(role: string, blocks: readonly string[]): Slot {
  return fresh(`{"role":${JSON.stringify(role)},"content":${arrayText(blocks)}}`);
}

function textBlock(text: string): string {
  return JSON.stringify({ type: "text", text });
}

function resultFor(call: string): string {
  return JSON.stringify({
    type: "tool_result",
    tool_use_id: textMember(call, "id") ?? "",
    content: LOST_RESULT,
    is_error: true,
  });
}
