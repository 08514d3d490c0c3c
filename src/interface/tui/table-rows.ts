/**
 * Draws a table: columns as wide as their content, aligned as the table says, with a rule below the header. A table that
 * is too wide wraps inside its cells, the widest columns first. One that would cut words apart is shown as "name: value".
 */

import type { Rows } from "./rows.ts";
import { closedStyles } from "./rows.ts";
import type { Style } from "./style.ts";
import { widthOf, wrap } from "./terminal-library.ts";

export interface Table {
  /** Cells may have styles and line feeds. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly align: readonly ("left" | "right" | "center" | null)[];
}

const GAP = "  ";
/** A column is never narrower, unless its content is. */
const LEAST_COLUMN = 8;
/** Longer words, such as addresses, may be broken. */
const LONGEST_WHOLE_WORD = 16;

export function tableRows(table: Table, width: number, style: Style): Rows {
  const { header, rows, align } = table;
  const widths = columnWidths(table, width);
  if (widths === undefined) return nameValueRows(table, width, style);
  const rule = style.dim(widths.map((one) => "─".repeat(one)).join(GAP));
  const drawn = rows.map((row) => cellRows(row, widths, align));
  const isWrapped = drawn.some((row) => row.length > 1);
  return [
    ...cellRows(header, widths, align),
    rule,
    ...drawn.flatMap((row, at) => (isWrapped && at > 0 ? [rule, ...row] : row)),
  ];
}

/** Undefined if the columns do not fit. */
function columnWidths({ header, rows }: Table, width: number): readonly number[] | undefined {
  const columns = header.map((name, at) => [name, ...rows.map((row) => row[at] ?? "")]);
  const whole = columns.map((cells) =>
    Math.max(1, ...cells.flatMap((cell) => cell.split("\n").map(widthOf))),
  );
  const room = width - GAP.length * (columns.length - 1);
  const most = widest(whole, room);
  const least = columns.map((cells) => Math.max(LEAST_COLUMN, ...cells.map(longestWord)));
  const fits = whole.every((one, at) => one <= most || most >= (least[at] ?? 0));
  return fits ? share(whole, most, room) : undefined;
}

/** The greatest width to which columns can be limited so that all of them fit. */
function widest(whole: readonly number[], room: number): number {
  let left = room;
  for (const [at, one] of whole.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (whole.length - at));
    if (one > each) return each;
    left -= one;
  }
  return Number.POSITIVE_INFINITY;
}

/** Limits the columns, and gives what is left over by rounding to the first ones that were cut. */
function share(whole: readonly number[], most: number, room: number): readonly number[] {
  const widths = whole.map((one) => Math.min(one, most));
  let left = room - widths.reduce((sum, one) => sum + one, 0);
  return widths.map((one, at) => {
    if (left <= 0 || one === whole[at]) return one;
    left -= 1;
    return one + 1;
  });
}

/** Scripts that are written without spaces can be broken anywhere. */
const BREAKS = /[\s\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]+/u;

function longestWord(cell: string): number {
  return Math.max(...cell.split(BREAKS).map((word) => Math.min(LONGEST_WHOLE_WORD, widthOf(word))));
}

function cellRows(cells: readonly string[], widths: readonly number[], align: Table["align"]): Rows {
  const wrapped = widths.map((width, at) => wrap(cells[at] ?? "", width).map(closedStyles));
  const height = Math.max(...wrapped.map((rows) => rows.length));
  return Array.from({ length: height }, (_, row) =>
    widths
      .map((width, at) => padded(wrapped[at]?.[row] ?? "", width, align[at] ?? "left"))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(text: string, width: number, align: "left" | "right" | "center"): string {
  const space = Math.max(0, width - widthOf(text));
  const before = align === "left" ? 0 : align === "right" ? space : Math.floor(space / 2);
  return " ".repeat(before) + text + " ".repeat(space - before);
}

function nameValueRows({ header, rows }: Table, width: number, style: Style): Rows {
  return rows.flatMap((row, index) => {
    const pairs = header.flatMap((name, at) => {
      const text = `${name === "" ? "" : `${name}${style.bold(":")} `}${row[at] ?? ""}`;
      const [first = "", ...others] = wrap(text.replaceAll("\n", " "), width - 2);
      return [first, ...others.map((rest) => `  ${rest}`)];
    });
    return index === 0 ? pairs : ["", ...pairs];
  });
}
