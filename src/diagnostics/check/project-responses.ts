/**
 * Blocks as Responses items. Consecutive thoughts with the same id are one item whose summary has parts.
 */

import { assertNever } from "../../base/support/index.ts";
import type { Block, ProjectedPiece } from "./block-history.ts";

export function projectResponses(blocks: readonly Block[]): readonly ProjectedPiece[] {
  const pieces: ProjectedPiece[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at] as Block;
    const run = [at];
    const isPart = (next: Block | undefined): boolean =>
      block.kind === "reasoning" &&
      next?.kind === "reasoning" &&
      block.wire === undefined &&
      block.id !== undefined &&
      next.id === block.id &&
      next.message === block.message;
    while (isPart(blocks[at + 1])) {
      at += 1;
      run.push(at);
    }
    const members = run.map((index) => blocks[index] as Block);
    pieces.push({ text: block.wire ?? itemOf(block, members), parts: [run] });
  }
  return pieces;
}

function itemOf(block: Block, members: readonly Block[]): string {
  const { id } = block;
  switch (block.kind) {
    case "user":
      return JSON.stringify({ role: "user", content: block.text ?? "" });
    case "text":
      return JSON.stringify({
        type: "message",
        role: "assistant",
        id,
        content: [{ type: "output_text", text: block.text ?? "", annotations: [] }],
      });
    case "reasoning": {
      const payload = members.findLast((one) => one.payload !== undefined)?.payload;
      const words = members.flatMap(({ text = "" }) => (text === "" ? [] : [{ type: "summary_text", text }]));
      return JSON.stringify({ type: "reasoning", id, summary: words, encrypted_content: payload });
    }
    case "call":
      return JSON.stringify({
        type: "function_call",
        id,
        call_id: block.callId ?? "",
        name: block.name ?? "",
        arguments: block.arguments ?? "{}",
      });
    case "result":
      return JSON.stringify({
        type: "function_call_output",
        call_id: block.callId ?? "",
        output: block.text ?? "",
      });
    default:
      return assertNever(block.kind, "kind of block");
  }
}
