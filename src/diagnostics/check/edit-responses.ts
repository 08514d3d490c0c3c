/** Applies edits to a list of Responses items. */

import { callOutput, isCallType, isOutputType } from "../../runtime/rules/index.ts";
import { LOST_RESULT, type Edit } from "./history.ts";
import { textMember } from "./json-text.ts";
import { editPieces, type PieceList, type PieceWords, type Slot } from "./piece-list.ts";

export function editResponses(slots: readonly Slot[], edits: readonly Edit[]): readonly Slot[] {
  return editPieces(slots, edits, WORDS);
}

const WORDS: PieceWords = {
  message: (role, text) => JSON.stringify({ role, content: text }),
  callIdPath: () => ["call_id"],
  toolNamePath: () => ["name"],
  close(list, { index }) {
    const call = list.now(index);
    if (call !== "") list.add(behindCalls(list, index), outputFor(call));
  },
  move: (list, { index }, behind) => list.move(index, behindCalls(list, behind)),
};

/** After the calls of its response and the outputs that are already there. */
function behindCalls(list: PieceList, call: number): number {
  let at = call + 1;
  for (; ; at += 1) {
    const type = textMember(list.old(at), "type") ?? "";
    if (!isCallType(type) && !isOutputType(type)) return at;
  }
}

function outputFor(call: string): string {
  const result = { callId: textMember(call, "call_id") ?? "", text: LOST_RESULT, failed: true };
  return JSON.stringify(callOutput(textMember(call, "type") ?? "", result));
}
