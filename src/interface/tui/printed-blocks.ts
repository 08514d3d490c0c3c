/**
 * What is on the screen above the input: blocks and notes in the order they came. A finished entry is printed once;
 * when it leaves the window it is the terminal's. Only what is still in the window follows a toggle.
 */

import type { Block } from "../fragments/index.ts";
import { type Folds, type BlockPiece, piecesOf } from "./block-pieces.ts";
import { noteRows } from "./block-rows.ts";
import { charactersIn, type Rows, without } from "./rows.ts";
import type { Gone } from "./screen.ts";
import { fit } from "./terminal-library.ts";
import type { View } from "./view-state.ts";

interface Entry {
  /** A note has none. */
  readonly block: string | undefined;
  piece: BlockPiece;
  /** Stands apart from what is above it. */
  spaced: boolean;
  /** As it was last drawn, and whether it was finished and unfolded then. */
  shown: Rows;
  shownFinished: boolean;
  shownOpen: boolean;
  /** So many characters of it stand above already: it goes on behind them. */
  skipped: number;
  /** The last rows, while nothing they depend on has changed. */
  cache: { readonly key: string; readonly rows: Rows } | undefined;
  /** Rows of it that have left the window: they stay as they were. */
  pinned: Rows;
  /** Its block is no longer on the active path: it stays as it was printed. */
  detached: boolean;
}

export class PrintedBlocks {
  #entries: Entry[] = [];
  /** Pieces that are the terminal's now, and whether they were finished when they left. */
  readonly #left = new Map<string, boolean>();
  /** Of those that fold: how they were printed. */
  readonly #printed = new Map<
    string,
    { readonly folds: Folds; readonly block: string; readonly open: boolean }
  >();
  readonly #skipped = new Set<string>();
  readonly #seen = new Map<string, Block>();
  readonly #since = new Map<string, number>();
  #notes = 0;
  #lastKind = "";

  /** When this viewer first saw the block: for the seconds of something that generates. */
  since(id: string, now: number): number {
    const known = this.#since.get(id);
    if (known !== undefined) return known;
    this.#since.set(id, now);
    return now;
  }

  /** History that is not printed again. */
  skip(blocks: readonly Block[]): void {
    for (const { id } of blocks) this.#skipped.add(id);
  }

  note(text: string): void {
    this.#notes += 1;
    const draw: BlockPiece["draw"] = (width, view) => noteRows(text, width, view);
    const key = `note/${this.#notes}`;
    this.#push(undefined, { key, kind: "note", finished: true, folds: undefined, draw });
  }

  /** Whether anything that can still be painted folds this way. */
  folds(folds: Folds): boolean {
    return this.#entries.some(({ piece, pinned }) => piece.folds === folds && pinned.length === 0);
  }

  /** Whether something of these blocks has left the window printed the other way. */
  isLeftBehind(folds: Folds, open: boolean, blocks?: readonly Block[]): boolean {
    const ids = blocks === undefined ? undefined : new Set(blocks.map(({ id }) => id));
    return [...this.#printed.values()].some(
      (one) => one.folds === folds && one.open !== open && (ids === undefined || ids.has(one.block)),
    );
  }

  /** These are printed once more, below everything; what was printed of them stays where it is. */
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

  /** The path goes on elsewhere: what was printed stays. */
  detach(): void {
    for (const entry of this.#entries) {
      entry.detached = true;
      entry.piece = { ...entry.piece, finished: true };
      this.#left.set(entry.piece.key, true);
    }
    this.#seen.clear();
  }

  /** All of it is void: what is told from now on is printed, whatever was printed before. */
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

  /** The first rows of the last frame have left the window. Returns how many of them belong to whole entries. */
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

  /** For another size of the terminal: what was drawn finished stays as the terminal shows it. Returns its rows. */
  releaseFinished(): number {
    let dropped = 0;
    for (let entry = this.#entries[0]; entry?.shownFinished === true; entry = this.#entries[0]) {
      dropped += entry.shown.length;
      this.#leave(entry);
    }
    return dropped;
  }

  /** After another size: these rows of the last frame stand above for good. What goes on, goes on behind them. */
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
      // An answer goes on where it is; anything else that ends out of sight is told again.
      if (isAllGone && shown.length > 0 && entry.piece.kind !== "text") {
        this.#left.set(entry.piece.key, entry.shownFinished);
        return false;
      }
      if (whole.length > 0) entry.spaced = false;
      entry.skipped += charactersIn([...whole, ...part]);
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

  /** Partly out of the window: what is finished can no longer be folded or unfolded. */
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
    // What ended out of sight is told again, where a person looks.
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

/** Rows of work stand close together; what is said stands apart. */
const WORK: ReadonlySet<string> = new Set(["reasoning", "tool", "notice"]);

/** A piece is named after its block. */
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
  if (entry.cache?.key !== key) entry.cache = { key, rows: draw() };
  return entry.cache.rows;
}
