/**
 * What is on the screen above the input: blocks and notes in the order they came. A finished entry is printed once;
 * when it leaves the window it is the terminal's. Only what is still in the window follows a toggle.
 *
 * @module
 */

import type { Block } from "../fragments/index.ts";
import { noteRows } from "./block-rows.ts";
import { type Piece, piecesOf } from "./pieces.ts";
import type { Rows } from "./rows.ts";
import type { View } from "./view-state.ts";

interface Entry {
  /** A note has none. */
  readonly block: string | undefined;
  piece: Piece;
  /** Stands apart from what is above it. */
  readonly spaced: boolean;
  /** The last rows, while nothing they depend on has changed. */
  cache: { readonly key: string; readonly rows: Rows } | undefined;
  /** Rows of it that have left the window: they stay as they were. */
  pinned: Rows;
  /** Its block is no longer on the active path: it stays as it was printed. */
  detached: boolean;
}

export class Transcript {
  #entries: Entry[] = [];
  /** Pieces that are the terminal's now, and whether they were finished when they left. */
  readonly #left = new Map<string, boolean>();
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
    const draw: Piece["draw"] = (width, view) => noteRows(text, width, view);
    this.#push(undefined, { key: `note/${this.#notes}`, kind: "note", finished: true, draw });
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
    return this.#entries.flatMap((entry) => rowsOf(entry, width, view));
  }

  /** The first rows of the last frame have left the window. Returns how many of them belong to whole entries. */
  release(gone: number, width: number, view: View): number {
    let dropped = 0;
    for (let entry = this.#entries[0]; entry !== undefined && dropped < gone; entry = this.#entries[0]) {
      const rows = rowsOf(entry, width, view);
      if (dropped + rows.length > gone) {
        this.#pin(entry, rows, gone - dropped);
        break;
      }
      this.#leave(entry);
      dropped += rows.length;
    }
    return dropped;
  }

  /** For another size of the terminal: what is finished stays as the terminal shows it. Returns its rows. */
  releaseFinished(width: number, view: View): number {
    let dropped = 0;
    for (let entry = this.#entries[0]; entry?.piece.finished === true; entry = this.#entries[0]) {
      dropped += rowsOf(entry, width, view).length;
      this.#leave(entry);
    }
    for (const entry of this.#entries) {
      entry.pinned = [];
      entry.cache = undefined;
    }
    return dropped;
  }

  #leave(entry: Entry): void {
    this.#left.set(entry.piece.key, entry.piece.finished);
    this.#entries.shift();
  }

  /** Partly out of the window: what is finished can no longer be folded or unfolded. */
  #pin(entry: Entry, rows: Rows, gone: number): void {
    entry.pinned = rows.slice(0, gone);
    if (!entry.piece.finished) return;
    entry.piece = { ...entry.piece, draw: () => (entry.spaced ? rows.slice(1) : rows) };
    entry.cache = undefined;
  }

  #isFirstOfResponse(id: string): boolean {
    const response = responseOf(id);
    const first = this.#entries.find(({ block }) => block !== undefined && responseOf(block) === response);
    return first === undefined || first.block === id;
  }

  #put(block: string, piece: Piece): void {
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

  #push(block: string | undefined, piece: Piece): void {
    const spaced = this.#lastKind !== "" && !(WORK.has(this.#lastKind) && WORK.has(piece.kind));
    this.#lastKind = piece.kind;
    this.#entries.push({ block, piece, spaced, cache: undefined, pinned: [], detached: false });
  }
}

/** Rows of work stand close together; what is said stands apart. */
const WORK: ReadonlySet<string> = new Set(["reasoning", "tool", "notice"]);

function responseOf(id: string): string {
  return id.slice(0, id.lastIndexOf("/"));
}

function rowsOf(entry: Entry, width: number, view: View): Rows {
  const rows = drawn(entry, width, view);
  return entry.pinned.length === 0 ? rows : [...entry.pinned, ...rows.slice(entry.pinned.length)];
}

function drawn(entry: Entry, width: number, view: View): Rows {
  const draw = (): Rows => {
    const rows = entry.piece.draw(width, view);
    return entry.spaced && rows.length > 0 ? ["", ...rows] : rows;
  };
  if (!entry.piece.finished) return draw(); // depends on the time too
  const key = `${width}/${view.reasoningOpen ? 1 : 0}${view.toolsOpen ? 1 : 0}`;
  if (entry.cache?.key !== key) entry.cache = { key, rows: draw() };
  return entry.cache.rows;
}
