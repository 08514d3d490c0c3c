/** Applies edits to a list of Anthropic messages. A message is removed with its last block. */

import { sliceArray, sliceMember } from "../../base/support/index.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { arrayText, textMember, withMember } from "./json-text.ts";
import { editPieces, type PieceList, type Slot } from "./piece-list.ts";

export function editMessages(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  /** Results to insert at the front of a message, and results for a new message after it. */
  const front = new Map<number, string[]>();
  const behind = new Map<number, string[]>();
  const put = (list: PieceList, call: number, result: string): void => {
    if (textMember(list.now(call + 1), "role") === "user") collect(front, call + 1, result);
    else collect(behind, call, result);
  };
  return editPieces(slots, edits, {
    parts: "content",
    message: (role, text) => message(role, [JSON.stringify({ type: "text", text })]),
    callIdPath(text, part = 0) {
      const isResult = textMember(blocksOf(text)[part] ?? "", "type") === "tool_result";
      return ["content", part, isResult ? "tool_use_id" : "id"];
    },
    toolNamePath: (_, part = 0) => ["content", part, "name"],
    close(list, { index, part = 0 }) {
      const call = blocksOf(list.now(index))[part];
      if (call !== undefined) put(list, index, resultFor(call));
    },
    move(list, at, call) {
      const block = blocksOf(list.now(at.index))[at.part ?? 0];
      if (block === undefined) return;
      list.drop(at);
      put(list, call, block);
    },
    finished(text, index, dropped) {
      const results = front.get(index) ?? [];
      if (dropped.size === 0 && results.length === 0) return text;
      const own = blocksOf(text).filter((_, part) => !dropped.has(part));
      const lead = own.findIndex((block) => textMember(block, "type") !== "tool_result");
      const blocks = own.toSpliced(lead === -1 ? own.length : lead, 0, ...results);
      return blocks.length === 0 ? undefined : withMember(text, "content", arrayText(blocks));
    },
    behind(index) {
      const results = behind.get(index);
      return results === undefined ? [] : [message("user", results)];
    },
  });
}

function collect(into: Map<number, string[]>, index: number, result: string): void {
  into.set(index, [...(into.get(index) ?? []), result]);
}

function blocksOf(text: string): readonly string[] {
  const content = sliceMember(text, "content");
  return content?.startsWith('"') === true
    ? [`{"type":"text","text":${content}}`]
    : sliceArray(content ?? "");
}

function message(role: string, blocks: readonly string[]): string {
  return `{"role":${JSON.stringify(role)},"content":${arrayText(blocks)}}`;
}

function resultFor(call: string): string {
  return JSON.stringify({
    type: "tool_result",
    tool_use_id: textMember(call, "id") ?? "",
    content: LOST_RESULT,
    is_error: true,
  });
}
