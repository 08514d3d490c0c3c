/** The clues by which the issued record recognises the items of a response: id, call id, exact text. */

import { stringOf } from "../../base/support/index.ts";
import type { IssuedReasoning, CluePositions } from "../issued-record.ts";
import { hashText } from "../seal.ts";
import { type ContextItem, messageHash } from "./judge/context.ts";
import type { IssuedItem } from "./output/issue.ts";

/** The clues that lead from a request to its conversation. */
export function* conversationClues(context: readonly ContextItem[]): Generator<string> {
  for (const { address, item } of context) {
    if (address !== undefined) yield address.uid;
    const callId = stringOf(item["call_id"]);
    if (callId !== undefined) yield callId;
  }
}

export function cluesOfResponse(uid: string, items: readonly IssuedItem[]): readonly string[] {
  return [uid, ...items.flatMap(({ callId }) => (callId === undefined ? [] : [callId]))];
}

export function issuedReasoning(
  items: readonly IssuedItem[],
  options: { readonly epoch: number; readonly opaque: boolean },
): readonly IssuedReasoning[] {
  const others = items.filter((item) => item.sealed === undefined);
  const members = others.map(cluesOf);
  return items.flatMap(({ sealed, draft }): IssuedReasoning[] => {
    if (sealed === undefined) return [];
    const opaque = options.opaque && (draft.type !== "reasoning" || draft.ciphertext === undefined);
    const followerAt = others.findIndex((item) => item.index === sealed.follower?.index);
    return [
      {
        id: sealed.id,
        dialect: "openai-responses",
        sealed,
        epoch: options.epoch,
        opaque,
        members,
        followerAt,
      },
    ];
  });
}

function cluesOf(item: IssuedItem): readonly string[] {
  const byId = `id ${item.id}`;
  if (item.callId !== undefined) return [byId, `call ${item.type} ${item.callId}`];
  return item.draft.type === "message" ? [byId, `text ${hashText(item.draft.text)}`] : [byId];
}

/** Positions by id, by call and by exact text: a long conversation is indexed once, not searched per item. */
export function cluePositions(context: readonly ContextItem[]): CluePositions {
  const positions = new Map<string, number>();
  for (const [position, { type, id, callId, item, address }] of context.entries()) {
    // An id that proves its response counts only for that one, even if another had the same text.
    const proven = id !== undefined && address !== undefined;
    const keys = [
      ...(id === undefined ? [] : [`id ${id}`]),
      ...(callId === undefined || proven ? [] : [`call ${type} ${callId}`]),
      ...(type === "message" && item["role"] === "assistant" && !proven ? [`text ${messageHash(item)}`] : []),
    ];
    for (const key of keys) if (!positions.has(key)) positions.set(key, position);
  }
  return positions;
}
