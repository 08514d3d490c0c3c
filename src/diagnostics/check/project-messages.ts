/**
 * Blocks as Anthropic messages. One response is one message. Consecutive input of the user is also one message, results
 * first, as the tools send it.
 */

import { assertNever } from "../../base/support/index.ts";
import type { Block, ProjectedPiece } from "./block-history.ts";

interface Draft {
  readonly role: "user" | "assistant";
  readonly message: string;
  readonly blocks: number[];
}

export function projectMessages(blocks: readonly Block[]): readonly ProjectedPiece[] {
  const drafts: Draft[] = [];
  for (const [index, block] of blocks.entries()) {
    const role = block.kind === "user" || block.kind === "result" ? "user" : "assistant";
    const last = drafts.at(-1);
    const own =
      role === "user"
        ? last?.role === "user"
          ? last
          : undefined
        : drafts.findLast((draft) => draft.role === "assistant" && draft.message === block.message);
    if (own === undefined) drafts.push({ role, message: block.message, blocks: [index] });
    else own.blocks.push(index);
  }
  return drafts.map(({ role, blocks: list }) => {
    const ordered = role === "user" ? resultsFirst(list, blocks) : list;
    const content = ordered.map((index) => blockText(blocks[index] as Block));
    return {
      text: `{"role":${JSON.stringify(role)},"content":[${content.join(",")}]}`,
      parts: ordered.map((index) => [index]),
    };
  });
}

function resultsFirst(list: readonly number[], blocks: readonly Block[]): readonly number[] {
  const isResult = (index: number): boolean => blocks[index]?.kind === "result";
  return [...list.filter(isResult), ...list.filter((index) => !isResult(index))];
}

/** A block as the API takes it. */
export function blockText(block: Block): string {
  if (block.wire !== undefined) return block.wire;
  switch (block.kind) {
    case "reasoning":
      return block.redacted === true
        ? JSON.stringify({ type: "redacted_thinking", data: block.payload ?? "" })
        : JSON.stringify({ type: "thinking", thinking: block.text ?? "", signature: block.payload ?? "" });
    case "call":
      return `{"type":"tool_use","id":${JSON.stringify(block.callId ?? "")},"name":${JSON.stringify(block.name ?? "")},"input":${block.arguments ?? "{}"}}`;
    case "result":
      return JSON.stringify({
        type: "tool_result",
        tool_use_id: block.callId ?? "",
        content: block.text ?? "",
      });
    case "user":
    case "text":
      return JSON.stringify({ type: "text", text: block.text ?? "" });
    default:
      return assertNever(block.kind, "kind of block");
  }
}
