/**
 * The content of the screen above the input: blocks and notes in order of arrival. A finished entry is printed once; when
 * it leaves the window it belongs to the terminal. A toggle affects only entries still in the window.
 */

import type { Block, ThoughtMarks } from "../fragments/index.ts";
import { type Folds, type BlockPiece, GROWING_TABLE, piecesOf } from "./block-pieces.ts";
import { noteRows } from "./block-rows.ts";
import { charactersIn, type Rows, without } from "./rows.ts";
import type { Gone } from "./screen.ts";
import { fit } from "./terminal-library.ts";
import type { View } from "./view-state.ts";

interface Entry {
  /** Undefined for a note. */
  readonly block: string | undefined;
  piece: BlockPiece;
  /** True if an empty row separates it from the entry above. */
  spaced: boolean;
  /** The rows last drawn; the next two fields say whether it was finished and unfolded then. */
  shown: Rows;
  shownFinished: boolean;
  shownOpen: boolean;
  /** The number of its characters that are already printed above; drawing continues after them. */
  skipped: number;
  /** The last rows, valid until something they depend on changes. */
  cache:
    | {
        readonly key: string;
        readonly marks: ThoughtMarks | undefined;
        readonly highlight: View["highlight"];
        readonly rows: Rows;
      }
    | undefined;
  /** Its rows that have left the window and can no longer change. */
  pinned: Rows;
  /** True if its block is no longer on the active path; it stays as it was printed. */
  detached: boolean;
}

export class PrintedBlocks {
  #entries: Entry[] = [];
  /** Pieces that have left the window, and whether they were finished then. */
  readonly #left = new Map<string, boolean>();
  /** For foldable pieces: how they were printed. */
  readonly #printed = new Map<
    string,
    { readonly folds: Folds; readonly block: string; readonly open: boolean }
  >();
  readonly #skipped = new Set<string>();
  readonly #seen = new Map<string, Block>();
  readonly #since = new Map<string, number>();
  #notes = 0;
  #lastKind = "";

  /** The time when this viewer first saw the block, for counting seconds while it generates. */
  since(id: string, now: number): number {
    const known = this.#since.get(id);
    if (known !== undefined) return known;
    this.#since.set(id, now);
    return now;
  }

  /** Excludes blocks of the history from printing. */
  skip(blocks: readonly Block[]): void {
    for (const { id } of blocks) this.#skipped.add(id);
  }

  note(text: string): void {
    this.#notes += 1;
    const draw: BlockPiece["draw"] = (width, view) => noteRows(text, width, view);
    const key = `note/${this.#notes}`;
    this.#push(undefined, { key, kind: "note", finished: true, folds: undefined, draw });
  }

  /** Returns whether any entry that can still be repainted folds this way. */
  folds(folds: Folds): boolean {
    return this.#entries.some(({ piece, pinned }) => piece.folds === folds && pinned.length === 0);
  }

  /** Returns whether part of these blocks has left the window in the other state. */
  isLeftBehind(folds: Folds, open: boolean, blocks?: readonly Block[]): boolean {
    const ids = blocks === undefined ? undefined : new Set(blocks.map(({ id }) => id));
    return [...this.#printed.values()].some(
      (one) => one.folds === folds && one.open !== open && (ids === undefined || ids.has(one.block)),
    );
  }

  /** Prints these blocks again below everything; earlier prints of them stay. */
  again(blocks: readonly Block[]): void {
    const ids = new Set(blocks.map(({ id }) => id));
    this.#entries = this.#entries.filter(({ piece, block }) => piece.finished || !ids.has(block ?? ""));
    for (const entry of this.#entries) {
      if (!ids.has(entry.block ?? "")) continue;
      entry.detached = true;
      entry.piece = { ...entry.piece, key: `${entry.piece.key}@${(this.#notes += 1)}` };
    }
    for (const key of this.#left.keys()) if (ids.has(blockOf(key))) this.#left.delete(key);
    for (const key of this.#printed.keys()) if (ids.has(blockOf(key))) this.#printed.delete(key);
    for (const id of ids) this.#seen.delete(id);
  }

  /** Called when the path branches; everything printed stays. */
  detach(): void {
    for (const entry of this.#entries) {
      entry.detached = true;
      entry.piece = { ...entry.piece, finished: true };
      this.#left.set(entry.piece.key, true);
    }
    this.#seen.clear();
  }

  /** Discards the state, so that everything from now on is printed, even if it was printed before. */
  startOver(): void {
    for (const entry of this.#entries) {
      entry.detached = true;
      entry.piece = { ...entry.piece, finished: true, key: `${entry.piece.key}@${(this.#notes += 1)}` };
    }
    for (const told of [this.#left, this.#printed, this.#skipped, this.#seen, this.#since]) told.clear();
  }

  update(blocks: readonly Block[]): void {
    const present = new Set<string>();
    for (const block of blocks) {
      if (this.#skipped.has(block.id)) continue;
      present.add(block.id);
      if (this.#seen.get(block.id) === block) continue;
      this.#seen.set(block.id, block);
      for (const piece of piecesOf(block, { first: this.#isFirstOfResponse(block.id) }))
        this.#put(block.id, piece);
    }
    this.#entries = this.#entries.filter(
      ({ block, detached }) => block === undefined || detached || present.has(block),
    );
  }

  render(width: number, view: View): Rows {
    return this.#entries.flatMap((entry) => {
      entry.shown = rowsOf(entry, width, view);
      entry.shownFinished = entry.piece.finished;
      entry.shownOpen = entry.piece.folds === "tools" ? view.toolsOpen : view.reasoningOpen;
      return entry.shown;
    });
  }

  /** Called when the first rows of the last frame have left the window. Returns how many belong to whole entries. */
  release(gone: number): number {
    let dropped = 0;
    for (let entry = this.#entries[0]; entry !== undefined && dropped < gone; entry = this.#entries[0]) {
      const { shown } = entry;
      if (dropped + shown.length > gone) {
        this.#pin(entry, shown, gone - dropped);
        break;
      }
      this.#leave(entry);
      dropped += shown.length;
    }
    return dropped;
  }

  /** Called before a resize: entries drawn as finished stay as the terminal shows them. Returns their number of rows. */
  releaseFinished(): number {
    let dropped = 0;
    for (let entry = this.#entries[0]; entry?.shownFinished === true; entry = this.#entries[0]) {
      dropped += entry.shown.length;
      this.#leave(entry);
    }
    return dropped;
  }

  /** Called after a resize: these rows of the last frame stay above permanently, and growing entries continue after them. */
  resume(gone: Gone): void {
    let { rows, columns } = gone;
    this.#entries = this.#entries.filter((entry) => {
      const { shown } = entry;
      entry.pinned = [];
      entry.cache = undefined;
      if (rows === 0 && columns === 0) return true;
      const whole = shown.slice(0, rows);
      const isAllGone = shown.length <= rows;
      const part = isAllGone ? [] : [fit(shown[rows] ?? "", columns, "")];
      rows -= whole.length;
      if (!isAllGone) columns = 0;
      // An answer continues where it is; any other entry that ends out of sight is printed again.
      if (isAllGone && shown.length > 0 && entry.piece.kind !== "text") {
        this.#left.set(entry.piece.key, entry.shownFinished);
        return false;
      }
      if (whole.length > 0) entry.spaced = false;
      if (entry.piece.kind !== GROWING_TABLE) entry.skipped += charactersIn([...whole, ...part]);
      return true;
    });
  }

  #leave(entry: Entry): void {
    this.#left.set(entry.piece.key, entry.piece.finished);
    this.#remember(entry);
    this.#entries.shift();
  }

  #remember({ piece, block, detached, shownOpen }: Entry): void {
    if (piece.folds === undefined || block === undefined || detached) return;
    this.#printed.set(piece.key, { folds: piece.folds, block, open: shownOpen });
  }

  /** Called when an entry is partly out of the window. A finished one can no longer be folded or unfolded. */
  #pin(entry: Entry, rows: Rows, gone: number): void {
    entry.pinned = rows.slice(0, gone);
    if (!entry.piece.finished) return;
    this.#remember(entry);
    entry.piece = { ...entry.piece, draw: () => (entry.spaced ? rows.slice(1) : rows) };
    entry.cache = undefined;
  }

  #isFirstOfResponse(id: string): boolean {
    const response = responseOf(id);
    const first = this.#entries.find(({ block }) => block !== undefined && responseOf(block) === response);
    return first === undefined || first.block === id;
  }

  #put(block: string, piece: BlockPiece): void {
    const before = this.#entries.find((entry) => entry.piece.key === piece.key);
    if (before !== undefined) {
      before.piece = piece;
      before.cache = undefined;
      return;
    }
    const left = this.#left.get(piece.key);
    // A piece that ended out of sight is printed again where the user can see it.
    if (left === undefined || (!left && piece.finished)) {
      this.#left.delete(piece.key);
      this.#push(block, piece);
    }
  }

  #push(block: string | undefined, piece: BlockPiece): void {
    const spaced = this.#lastKind !== "" && !(WORK.has(this.#lastKind) && WORK.has(piece.kind));
    this.#lastKind = piece.kind;
    const shown = { shown: [], shownFinished: false, shownOpen: false, skipped: 0 };
    this.#entries.push({ block, piece, spaced, ...shown, cache: undefined, pinned: [], detached: false });
  }
}

/** Kinds printed without empty rows between them; messages are separated. */
const WORK: ReadonlySet<string> = new Set(["reasoning", "tool", "notice"]);

/** A piece's key starts with its block's id. */
function blockOf(key: string): string {
  return key.split("#", 1)[0] ?? key;
}

function responseOf(id: string): string {
  return id.slice(0, id.lastIndexOf("/"));
}

function rowsOf(entry: Entry, width: number, view: View): Rows {
  const rows = drawn(entry, width, view);
  return entry.pinned.length === 0 ? rows : [...entry.pinned, ...rows.slice(entry.pinned.length)];
}

function drawn(entry: Entry, width: number, view: View): Rows {
  const draw = (): Rows => {
    const rows = without(entry.piece.draw(width, view), entry.skipped);
    return entry.spaced && rows.length > 0 ? ["", ...rows] : rows;
  };
  if (!entry.piece.finished) return draw(); // depends on the time too
  const key = `${width}/${view.reasoningOpen ? 1 : 0}${view.toolsOpen ? 1 : 0}`;
  const { highlight } = view;
  // Only thoughts have marks, and those of another path keep theirs.
  const marks = entry.piece.kind === "reasoning" && !entry.detached ? view.marks : entry.cache?.marks;
  const { cache } = entry;
  if (cache?.key === key && cache.marks === marks && cache.highlight === highlight) return cache.rows;
  const rows = draw();
  entry.cache = { key, marks, highlight, rows };
  return rows;
}
