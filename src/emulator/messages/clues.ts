/**
 * The clues by which the issued record recognises a Claude conversation. Messages have no ids here: thinking and tool
 * calls prove their response; otherwise the text and everything before it identify it.
 */

import { stringOf } from "../../base/support/index.ts";
import type { IssuedReasoning, CluePositions } from "../issued-record.ts";
import { hashText, type Seal } from "../seal.ts";
import { type Context, isThinking, meaningOf } from "./judge/context.ts";
import type { IssuedBlock } from "./output/issue.ts";
import { readToolId, type ThinkingPayload } from "./signature.ts";

export function* conversationClues(
  context: Context,
  thinking: ReadonlyMap<number, ThinkingPayload>,
  seal: Seal,
): Generator<string> {
  for (const payload of thinking.values()) yield payload.uid;
  for (const { block, type } of context.blocks) {
    const id = type === "tool_use" ? stringOf(block["id"]) : undefined;
    if (id === undefined) continue;
    const address = readToolId(seal, id);
    yield address === undefined ? id : address.uid;
  }
  for (const [position, { role }] of context.blocks.entries()) {
    if (role === "assistant") yield `link ${context.chain[position + 1]}`;
  }
}

export function cluesOfMessage(uid: string, blocks: readonly IssuedBlock[]): readonly string[] {
  const calls = blocks.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  const last = blocks.at(-1);
  return [uid, ...calls, ...(last === undefined ? [] : [`link ${last.linkAfter}`])];
}

export function issuedThinking(blocks: readonly IssuedBlock[], epoch: number): readonly IssuedReasoning[] {
  const others = blocks.filter((block) => block.sealed === undefined);
  const members = others.map(({ final, linkBefore }) => cluesOf(final, linkBefore));
  return blocks.flatMap(({ sealed, index }): IssuedReasoning[] =>
    sealed === undefined
      ? []
      : [
          {
            id: sealed.id,
            dialect: "anthropic-messages",
            sealed,
            epoch,
            opaque: true,
            members,
            followerAt: others.findIndex((block) => block.index > index),
          },
        ],
  );
}

/** Best first: with everything before it, then on its own, so that an edit further up does not hide it. */
function cluesOf(block: Readonly<Record<string, unknown>>, link: string): readonly string[] {
  if (block["type"] === "tool_use") return [`call ${String(block["id"])}`];
  const said = hashText(meaningOf(block));
  return [`said ${said} ${link}`, `said ${said}`];
}

export function cluePositions(context: Context): CluePositions {
  const positions = new Map<string, number>();
  for (const [position, { block, role, type }] of context.blocks.entries()) {
    if (role !== "assistant" || isThinking(type)) continue;
    for (const clue of cluesOf(block, context.chain[position] ?? ""))
      if (!positions.has(clue)) positions.set(clue, position);
  }
  return positions;
}
