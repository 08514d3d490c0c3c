/**
 * Histories that tools store in their own formats, converted to a dialect. Blocks (a text, a thought, a call, a result)
 * form pieces. An edit of a piece becomes a change of the blocks it was made from, and so of the file. A format only says
 * where its blocks are and how it writes results and ids.
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
  /** Blocks with the same key form one message: one response or one turn of the user. */
  readonly message: string;
  /** The index of the file's element that contains the block. */
  readonly element: number;
  /** Its path in that element; empty if the block is the whole element. */
  readonly path: Path;
  /** Its place in the file, for messages. */
  readonly where: string;
  /** The exact JSON of the block or item, if the tool keeps it. */
  readonly wire?: string;
  readonly text?: string;
  /** The provider's item id. */
  readonly id?: string | undefined;
  /** Data that only its maker can read: encrypted content or a signature. */
  readonly payload?: string | undefined;
  /** The thought is redacted: it has a payload and no text. */
  readonly redacted?: boolean;
  /** The chat field that a thought was read from. */
  readonly field?: string;
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
  /** JSON text. */
  readonly arguments?: string;
}

/** A block as a format describes it. By default it is a whole element and a separate message. */
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
  /** How elements name their parents, if they form a tree. */
  readonly links?: LinkNames;
  /** The elements that would be sent, in order. Default: all. */
  readonly sent?: readonly number[];
  /** By default, the tool lets the server store items. */
  readonly stored?: true;
  /** A result is in the same part as its call, so dropping the result closes the call. */
  readonly resultsInCalls?: true;
  blocksOf(value: JsonObject, element: number): readonly FoundBlock[];
  /** The number of parts in an element. The element is removed with its last part. */
  partsIn(value: JsonObject, blocks: number): number;
  /** Gives a call a constant result. */
  close(file: RecordEdits, call: Block): void;
  rename(file: RecordEdits, block: Block, callId: string): void;
  /** Renames the tool in a call or a result that has the old name. */
  renameTool(file: RecordEdits, block: Block, from: string, to: string): void;
  /** Default: removes the member from the part. */
  strip?(file: RecordEdits, block: Block, field: string, all: readonly Block[]): void;
  /** Parts that are removed together with a part. */
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
    moves: false,
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

/** A thought is removed whole, whichever field it would be sent in. */
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

/** From the end, so that indexes stay valid. */
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
