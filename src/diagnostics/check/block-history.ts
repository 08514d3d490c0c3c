/**
 * What tools store in shapes of their own, brought into the words of a dialect: blocks (a text, a thought, a call, a result)
 * make pieces, and an edit of a piece becomes a change of the blocks it was made from, and so of the file. A format says
 * only where its blocks stand and how its results and ids are written.
 */

import type { JsonObject } from "../../base/support/index.ts";
import type { RecordFile } from "./element-list.ts";
import { inferGroups } from "./formats/infer-groups.ts";
import type { FormatName } from "./formats/names.ts";
import type { Edit, History, HistoryDialect, Piece, Spot } from "./history.ts";
import type { Path } from "./json-text.ts";
import { projectChat } from "./project-chat.ts";
import { projectMessages } from "./project-messages.ts";
import { projectResponses } from "./project-responses.ts";
import { type LinkNames, RecordEdits } from "./record-edits.ts";

export interface Block {
  readonly kind: "user" | "text" | "reasoning" | "call" | "result";
  /** Blocks with the same key are one message: one response, one turn of the user. */
  readonly message: string;
  /** The element of the file it stands in. */
  readonly element: number;
  /** Where in its element; empty: it is the whole of it. */
  readonly path: Path;
  /** Where a person finds it. */
  readonly where: string;
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

/** What a format says of a block. By default it is a whole element, and a message of its own. */
export type FoundBlock = Omit<Block, "message" | "element" | "path" | "where"> &
  Partial<Pick<Block, "message" | "path" | "where">>;

export interface ProjectedPiece {
  readonly text: string;
  /** The blocks of each part; a piece without parts has one list. */
  readonly parts: readonly (readonly number[])[];
  readonly context?: Piece["context"];
}

export interface BlockFormat {
  readonly format: FormatName;
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  /** How the elements name their parents, where they form a tree. */
  readonly links?: LinkNames;
  /** The elements that would be sent, in order. Default: all. */
  readonly sent?: readonly number[];
  /** The tool has the server keep items unless told otherwise. */
  readonly stored?: true;
  /** A result stands in the part of its call: to drop it is to close the call. */
  readonly resultsInCalls?: true;
  blocksOf(value: JsonObject, element: number): readonly FoundBlock[];
  /** How many parts hold an element up: it goes with the last of them. */
  partsIn(value: JsonObject, blocks: number): number;
  /** Gives a call a constant result. */
  close(file: RecordEdits, call: Block): void;
  rename(file: RecordEdits, block: Block, callId: string): void;
  /** Another name of the tool, in a call or a result that has the old one. */
  renameTool(file: RecordEdits, block: Block, from: string, to: string): void;
  /** Default: takes the member out of the part. */
  strip?(file: RecordEdits, block: Block, field: string, all: readonly Block[]): void;
  /** What else goes with a part. */
  dropped?(file: RecordEdits, block: Block): void;
}

const PROJECT: Readonly<Record<HistoryDialect, (blocks: readonly Block[]) => readonly ProjectedPiece[]>> = {
  "openai-responses": projectResponses,
  "anthropic-messages": projectMessages,
  "openai-chat": projectChat,
};

export function blockHistory(file: RecordFile, source: BlockFormat): History {
  const { format, version, dialect, sent = [...file.values.keys()] } = source;
  const blocks = sent.flatMap((element) =>
    source.blocksOf(file.values[element] ?? {}, element).map((found): Block => ({
      message: String(element),
      path: [],
      where: file.where(element),
      ...found,
      element,
    })),
  );
  const projected = PROJECT[dialect](blocks);
  const whereIs = (list: readonly number[]): string => blocks[list[0] ?? -1]?.where ?? "";
  const pieces = projected.map(({ text, parts, context }): Piece => ({
    text,
    where: whereIs(parts.find((list) => list.length > 0) ?? []),
    parts: parts.map(whereIs),
    context,
  }));
  return {
    format,
    version,
    dialect,
    pieces: dialect === "openai-responses" ? inferGroups(pieces) : pieces,
    damage: file.damage,
    stored: source.stored,
    apply: (edits) =>
      edits.some((edit) => edit.do === "clean")
        ? file.clean()
        : rewrite(file, source, blocks, projected, edits),
  };
}

function rewrite(
  file: RecordFile,
  source: BlockFormat,
  blocks: readonly Block[],
  pieces: readonly ProjectedPiece[],
  edits: readonly Edit[],
): string {
  const changes = new RecordEdits(file, source.links);
  const dropped = new Set<number>();
  for (const edit of edits) {
    if (!("at" in edit)) continue;
    for (const index of blocksAt(edit.at, pieces)) {
      const block = blocks[index] as Block;
      if (drops(edit, block)) {
        if (source.resultsInCalls === true && block.kind === "result") source.close(changes, block);
        else dropped.add(index);
      } else if (edit.do === "close" && block.kind === "call") source.close(changes, block);
      else if (edit.do === "rename" && block.callId !== undefined) source.rename(changes, block, edit.callId);
      else if (edit.do === "name") source.renameTool(changes, block, edit.from, edit.to);
      else if (edit.do === "strip" && !isReasoningField(edit.field))
        if (source.strip !== undefined) source.strip(changes, block, edit.field, blocks);
        else if (block.path.length > 0) changes.removeAt(block.element, [...block.path, edit.field]);
    }
  }
  dropAll(file, source, { changes, blocks, dropped });
  return changes.text();
}

/** A thought goes whole, whatever the field it would be sent in. */
function drops(edit: Edit, { kind }: Block): boolean {
  return edit.do === "drop" || (edit.do === "strip" && isReasoningField(edit.field) && kind === "reasoning");
}

function isReasoningField(field: string): boolean {
  return field.startsWith("reasoning") || field === "content_thinking";
}

function blocksAt({ index, part }: Spot, pieces: readonly ProjectedPiece[]): readonly number[] {
  const parts = pieces[index]?.parts ?? [];
  return part === undefined ? parts.flat() : (parts[part] ?? []);
}

interface Drops {
  readonly changes: RecordEdits;
  readonly blocks: readonly Block[];
  readonly dropped: ReadonlySet<number>;
}

/** From the end, so that indexes stay true. */
function dropAll({ values }: RecordFile, source: BlockFormat, { changes, blocks, dropped }: Drops): void {
  const found = byElement(blocks);
  const going = byElement([...dropped].toSorted((a, b) => b - a).map((index) => blocks[index] as Block));
  for (const [element, own] of going) {
    const isWhole = own.some(({ path }) => path.length === 0);
    if (isWhole || own.length >= source.partsIn(values[element] ?? {}, found.get(element)?.length ?? 0)) {
      changes.remove(element);
      continue;
    }
    for (const block of own) {
      changes.removeAt(element, block.path);
      source.dropped?.(changes, block);
    }
  }
}

function byElement(blocks: readonly Block[]): ReadonlyMap<number, readonly Block[]> {
  const groups = new Map<number, Block[]>();
  for (const block of blocks) {
    const group = groups.get(block.element);
    if (group === undefined) groups.set(block.element, [block]);
    else group.push(block);
  }
  return groups;
}
