/** Splits a block into pieces that are printed once they no longer change: an answer by paragraph, other blocks whole. */

import { type Block, SUPERSEDED_LABEL } from "../fragments/index.ts";
import { answerRows, blockRows } from "./block-rows.ts";
import { hasTable, markdownChunks } from "./markdown-chunks.ts";
import { count, type Rows, tail } from "./rows.ts";
import { growingRows, type View } from "./view-state.ts";

export type Folds = "reasoning" | "tools";

/**
 * The kind of a text that ends with a growing table. It stays in the window, because each wider cell changes rows above it,
 * and it is printed whole when it ends, whatever has been seen of it.
 */
export const GROWING_TABLE = "growing table";

export interface BlockPiece {
  readonly key: string;
  readonly kind: string;
  /** True if it no longer changes. */
  readonly finished: boolean;
  /** The toggle that folds it; undefined if there is nothing to unfold. */
  readonly folds: Folds | undefined;
  readonly draw: (width: number, view: View) => Rows;
}

export function piecesOf(block: Block, where: { readonly first: boolean }): readonly BlockPiece[] {
  const whole: BlockPiece = {
    key: block.id,
    kind: block.kind,
    finished: !block.generating && !waits(block),
    folds: foldsOf(block),
    draw: (width, view) => blockRows(block, width, view),
  };
  if (block.kind !== "text") return [block.superseded ? superseded(whole, where.first) : whole];
  const chunks = markdownChunks(block.text);
  return chunks.map((chunk, at): BlockPiece => {
    const last = at === chunks.length - 1;
    const finished = !last || !block.generating;
    const isGrowingTable = !finished && hasTable(chunk);
    const piece: BlockPiece = {
      key: `${block.id}#${at}`,
      kind: isGrowingTable ? GROWING_TABLE : block.kind,
      finished,
      folds: undefined,
      draw: (width, view) => {
        const rows = answerRows(block, chunk, width, view);
        return [
          ...(isGrowingTable ? lastRows(rows, view) : rows),
          ...(last && block.cut ? [view.style.dim("… (it ends here)")] : []),
        ];
      },
    };
    return block.superseded ? superseded(piece, where.first && at === 0) : piece;
  });
}

function lastRows(rows: Rows, view: View): Rows {
  return tail(rows, growingRows(view), (hidden) => view.style.dim(`… ${count(hidden, "row")} above`));
}

function foldsOf(block: Block): Folds | undefined {
  if (block.kind === "tool") return "tools";
  return block.kind === "reasoning" && block.parts.length > 0 ? "reasoning" : undefined;
}

/** A call without a result is not finished, even while no text arrives. */
function waits(block: Block): boolean {
  return block.kind === "tool" && block.result === undefined && !block.cut && !block.superseded;
}

/** Folds away an attempt that was retried; its first piece says so. */
function superseded(piece: BlockPiece, tells: boolean): BlockPiece {
  return {
    ...piece,
    finished: true,
    folds: "reasoning",
    draw: (width, view) => {
      if (view.reasoningOpen) return piece.draw(width, view);
      return tells ? [view.style.dim(`▸ ${SUPERSEDED_LABEL}`)] : [];
    },
  };
}
