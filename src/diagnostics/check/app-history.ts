/**
 * What tools store in shapes of their own, brought into the words of a dialect: blocks (a text, a thought, a call, a result)
 * make pieces, and an edit of a piece becomes a change of the blocks it was made from.
 *
 * @module
 */

import { inferGroups } from "./formats/infer-groups.ts";
import type { FormatName } from "./formats/names.ts";
import type { Damage, Edit, History, HistoryDialect, Piece, Spot } from "./history.ts";
import { projectChat } from "./project-chat.ts";
import { projectMessages } from "./project-messages.ts";
import { projectResponses } from "./project-responses.ts";

export interface Block {
  readonly kind: "user" | "text" | "reasoning" | "call" | "result";
  /** Blocks with the same key are one message: one response, one turn of the user. */
  readonly message: string;
  readonly place: string;
  /** The exact JSON of the block or item, where the tool keeps it. */
  readonly wire?: string;
  readonly text?: string;
  /** The provider's item id. */
  readonly id?: string | undefined;
  /** What only its maker can read: encrypted content, a signature. */
  readonly payload?: string | undefined;
  /** The thought is redacted: all payload, no words. */
  readonly redacted?: boolean;
  /** The chat field a thought was captured from. */
  readonly field?: string;
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
  /** JSON text. */
  readonly arguments?: string;
}

/** A change of a block, by its index. */
export type BlockEdit =
  | { readonly do: "drop"; readonly block: number }
  | { readonly do: "close"; readonly block: number }
  | { readonly do: "strip"; readonly block: number; readonly field: string }
  | { readonly do: "rename"; readonly block: number; readonly callId: string };

export interface ProjectedPiece {
  readonly text: string;
  /** The blocks of each part; a piece without parts has one list. */
  readonly parts: readonly (readonly number[])[];
  readonly context?: Piece["context"];
}

export interface AppSource {
  readonly format: FormatName;
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  readonly blocks: readonly Block[];
  readonly damage?: readonly Damage[];
  rewrite(edits: readonly BlockEdit[]): string;
  clean?(): string;
}

const PROJECT: Readonly<Record<HistoryDialect, (blocks: readonly Block[]) => readonly ProjectedPiece[]>> = {
  "openai-responses": projectResponses,
  "anthropic-messages": projectMessages,
  "openai-chat": projectChat,
};

export function appHistory(source: AppSource): History {
  const { format, version, dialect, blocks, damage = [] } = source;
  const projected = PROJECT[dialect](blocks);
  const placeOf = (list: readonly number[]): string => blocks[list[0] ?? -1]?.place ?? "";
  const pieces = projected.map(({ text, parts, context }): Piece => ({
    text,
    place: placeOf(parts.find((list) => list.length > 0) ?? []),
    parts: parts.map(placeOf),
    context,
  }));
  return {
    format,
    version,
    dialect,
    pieces: dialect === "openai-responses" ? inferGroups(pieces) : pieces,
    damage,
    apply(edits) {
      if (edits.some((edit) => edit.do === "clean")) return source.clean?.() ?? source.rewrite([]);
      return source.rewrite(edits.flatMap((edit) => blockEdits(edit, projected, blocks)));
    },
  };
}

function blockEdits(
  edit: Edit,
  pieces: readonly ProjectedPiece[],
  blocks: readonly Block[],
): readonly BlockEdit[] {
  if (edit.do === "drop") return blocksAt(edit.at, pieces).map((block) => ({ do: "drop", block }));
  if (edit.do === "close") {
    const calls = blocksAt(edit.at, pieces).filter((block) => blocks[block]?.kind === "call");
    return calls.map((block) => ({ do: "close", block }));
  }
  if (edit.do === "rename")
    return blocksAt(edit.at, pieces)
      .filter((block) => blocks[block]?.callId !== undefined)
      .map((block) => ({ do: "rename", block, callId: edit.callId }));
  if (edit.do !== "strip") return [];
  const thoughts = blocksAt(edit.at, pieces).filter((block) => blocks[block]?.kind === "reasoning");
  if (edit.field.startsWith("reasoning") || edit.field === "content_thinking")
    return thoughts.map((block) => ({ do: "drop", block }));
  return blocksAt(edit.at, pieces).map((block) => ({ do: "strip", block, field: edit.field }));
}

function blocksAt({ index, part }: Spot, pieces: readonly ProjectedPiece[]): readonly number[] {
  const parts = pieces[index]?.parts ?? [];
  return part === undefined ? parts.flat() : (parts[part] ?? []);
}
