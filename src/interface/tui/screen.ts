/**
 * Paints inline in the normal buffer. Rows are counted from the first one ever painted. Rows that have left the window
 * belong to the terminal's scrollback and are never touched again; rows still in the window can be repainted. There is no
 * alternate screen, and nothing above our first row is ever erased.
 *
 * Counting gives the top of the window: row `high`, the lowest one ever painted, has been on the screen, so row
 * `high - height + 1` and all rows below it still are.
 */

import { sealed, type Rows } from "./rows.ts";
import { widthOf } from "./terminal-library.ts";

export interface ScreenOutput {
  readonly columns: number;
  readonly rows: number;
  write(data: string): void;
}

export interface Frame {
  readonly rows: Rows;
  /** The position of the cursor; undefined hides it. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** The number of leading rows of a frame, and of columns of the row after them. */
export interface Gone {
  readonly rows: number;
  readonly columns: number;
}

const ESC = "\u001B";
/** Synchronized output: terminals that support it show the whole update at once; others ignore it. */
const BEGIN = `${ESC}[?2026h`;
const END = `${ESC}[?2026l`;
const HIDE = `${ESC}[?25l`;
const SHOW = `${ESC}[?25h`;
const RESET = `${ESC}[0m`;

export class Screen {
  readonly #output: ScreenOutput;
  /** The rows of the last frame. */
  #painted: Rows = [];
  /** The lowest row ever painted, counted like the rows of a frame. */
  #high = -1;
  #cursorRow = 0;
  #cursorColumn = 0;
  #columns: number;
  #height: number;

  constructor(output: ScreenOutput) {
    this.#output = output;
    this.#columns = output.columns;
    this.#height = output.rows;
  }

  /** The number of leading rows of the last frame that have left the window permanently. */
  get gone(): number {
    return Math.max(0, Math.min(this.#painted.length, this.#high - this.#height + 1));
  }

  /** Leaves the first rows to the terminal; the next frame starts after them. */
  forget(rows: number): void {
    this.#painted = this.#painted.slice(rows);
    this.#high -= rows;
    this.#cursorRow -= rows;
  }

  draw(frame: Frame): void {
    const rows = frame.rows.map((row) => sealed(row, this.#columns));
    const from = this.#firstChange(rows);
    let out = "";
    if (from !== undefined) {
      out += this.#moveTo(from) + this.#paint(rows, from);
      this.#painted = [...this.#painted.slice(0, from), ...rows.slice(from)];
      this.#high = Math.max(this.#high, rows.length - 1);
    }
    out += this.#placeCursor(frame.cursor);
    if (out !== "") this.#output.write(BEGIN + HIDE + out + (frame.cursor === undefined ? "" : SHOW) + END);
  }

  /**
   * Called when the terminal has a new size. The terminal may have rewrapped our rows. How is known only for the rows
   * after the last `forget`, so these are erased and everything before them stays as the terminal shows it. Returns the
   * part of them that has left the window in the meantime and could not be erased.
   *
   * The cursor's row counts as one row: xterm.js does not wrap it, others do. Moving up too little leaves a row behind;
   * moving up too far would erase rows that are not ours.
   */
  resize(): Gone {
    const { columns, rows: height } = this.#output;
    const above = this.#painted.slice(0, Math.max(0, this.#cursorRow));
    const broken = above.map((row) => Math.max(1, Math.ceil(widthOf(row) / columns)));
    const all = broken.reduce((sum, count) => sum + count, 0);
    const up = Math.min(all, height - 1);
    this.#columns = columns;
    this.#height = height;
    this.#output.write(`${BEGIN}\r${up > 0 ? `${ESC}[${up}A` : ""}${ESC}[J${END}`);
    this.#reset();
    let left = all - up;
    let rows = 0;
    for (const count of broken) {
      if (left < count) break;
      left -= count;
      rows += 1;
    }
    return { rows, columns: left * columns };
  }

  /** Moves the cursor to an empty row below everything. */
  end(): void {
    const last = this.#painted.length - 1;
    this.#output.write(`${last < 0 ? "\r" : `${this.#moveTo(last)}\r\n`}${RESET}${SHOW}`);
    this.#reset();
  }

  /** Makes the next frame start at the cursor. */
  #reset(): void {
    this.#painted = [];
    this.#high = -1;
    this.#cursorRow = 0;
    this.#cursorColumn = 0;
  }

  /** Returns the first row that differs and can still be painted. */
  #firstChange(rows: Rows): number | undefined {
    const most = Math.max(rows.length, this.#painted.length);
    for (let row = this.gone; row < most; row += 1) {
      if (rows[row] !== this.#painted[row]) return row;
    }
    return undefined;
  }

  #moveTo(row: number): string {
    // A row below the last painted one may not exist yet; a line feed creates it.
    const target = Math.min(row, Math.max(0, this.#painted.length - 1));
    const move = this.#step(target, 0);
    if (row === target || this.#painted.length === 0) return move;
    this.#cursorRow = row;
    return `${move}\r\n`;
  }

  #step(row: number, column: number): string {
    const step = row - this.#cursorRow;
    this.#cursorRow = row;
    this.#cursorColumn = column;
    return `\r${step === 0 ? "" : `${ESC}[${Math.abs(step)}${step < 0 ? "A" : "B"}`}`;
  }

  #paint(rows: Rows, from: number): string {
    let out = "";
    for (let row = from; row < rows.length; row += 1) {
      if (row > from) out += "\r\n";
      // Erase before writing: after a full row, the cursor is still on its last column.
      out += `${ESC}[2K${rows[row] ?? ""}${RESET}`;
      this.#cursorRow = row;
    }
    if (rows.length === 0) return `${ESC}[J`;
    // Erase old rows below the last one.
    if (this.#painted.length > rows.length) {
      const below = from < rows.length;
      out += below ? `\r\n${ESC}[J${ESC}[A` : `${ESC}[J`;
      if (!below) this.#cursorRow = from;
    }
    return out;
  }

  #placeCursor(cursor: Frame["cursor"]): string {
    const { row, column } = cursor ?? { row: Math.max(0, this.#painted.length - 1), column: 0 };
    if (row === this.#cursorRow && column === this.#cursorColumn) return "";
    return `${this.#step(row, column)}${column > 0 ? `${ESC}[${column}C` : ""}`;
  }
}
