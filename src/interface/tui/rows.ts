/**
 * Components render to rows. A row is text with styles, at most as wide as the terminal, without a line feed.
 *
 * `sealed` is the last gate before the terminal: only text and styles pass it.
 */

import { inert } from "../../base/support/index.ts";
import { fit, wrap } from "./terminal-library.ts";

export type Rows = readonly string[];

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const STYLES = /(\u001B\[(?:(?:0|1|2|3|4|9|2[2349]|3[1-369])(?:;(?=\d)|(?=m)))*m)/;

export function sealed(row: string, width: number): string {
  const parts = row.split(STYLES);
  const safe = parts.map((part, at) => (at % 2 === 1 ? part : inert(part).replaceAll(/[\n\t]/g, " ")));
  return fit(safe.join(""), width);
}

const STYLE_ENDS: Readonly<Record<string, number>> = {
  1: 22,
  2: 22,
  3: 23,
  4: 24,
  9: 29,
  31: 39,
  32: 39,
  33: 39,
  36: 39,
};

/** Ends the styles that are still open where a row was cut, so that they do not reach what stands beside it. */
export function closedStyles(row: string): string {
  const open = new Set<number>();
  for (const [at, part] of row.split(STYLES).entries()) {
    if (at % 2 === 0) continue;
    for (const code of part.slice(2, -1).split(";")) {
      const end = STYLE_ENDS[code];
      if (end !== undefined) open.add(end);
      else if (code === "0" || code === "") open.clear();
      else open.delete(Number(code));
    }
  }
  return row + [...open].map((code) => `\u001B[${code}m`).join("");
}

/** Spaces and frames, which depend on the width and are not part of the text. */
const DRAWN = /[\s\u2500-\u257F]/u;

/** Counts the characters that are neither spaces nor frames, so the result does not depend on the width. */
export function charactersIn(rows: Rows): number {
  let found = 0;
  for (const row of rows) {
    for (const [at, part] of row.split(STYLES).entries()) {
      if (at % 2 === 0) for (const char of part) if (!DRAWN.test(char)) found += 1;
    }
  }
  return found;
}

/** Removes the first characters, counted like `charactersIn`, and the rows they filled. */
export function without(rows: Rows, characters: number): Rows {
  let left = characters;
  for (const [index, row] of rows.entries()) {
    if (left === 0) return rows.slice(index);
    const here = charactersIn([row]);
    if (here > left) return [behind(row, left), ...rows.slice(index + 1)];
    left -= here;
  }
  return [];
}

/** Returns the rest of a row in its style. */
function behind(row: string, characters: number): string {
  let left = characters;
  let rest = "";
  for (const [at, part] of row.split(STYLES).entries()) {
    if (at % 2 === 1 || left === 0) {
      rest += part;
      continue;
    }
    const chars = Array.from(part);
    let from = 0;
    while (from < chars.length && left > 0) if (!DRAWN.test(chars[from++] ?? "")) left -= 1;
    rest += chars.slice(from).join("").trimStart();
  }
  return rest;
}

/** Makes text inert, wraps it, and indents each row. */
export function textRows(text: string, width: number, margin = ""): Rows {
  return indent(wrap(inert(text), width - margin.length), margin);
}

export function indent(rows: Rows, margin: string): Rows {
  return rows.map((row) => margin + row);
}

/** Returns the last rows, below a note about the hidden ones. */
export function tail(rows: Rows, most: number, more: (hidden: number) => string): Rows {
  if (rows.length <= most) return rows;
  const shown = Math.max(1, most - 1);
  return [more(rows.length - shown), ...rows.slice(-shown)];
}

/** Returns the first rows, above a note about the hidden ones. */
export function head(rows: Rows, most: number, more: (hidden: number) => string): Rows {
  if (rows.length <= most) return rows;
  const shown = Math.max(1, most - 1);
  return [...rows.slice(0, shown), more(rows.length - shown)];
}

/** "1 request", "2 requests". */
export function count(amount: number, one: string): string {
  return `${amount.toLocaleString("en")} ${one}${amount === 1 ? "" : "s"}`;
}

/** 950, 1.2k, 34k, 1.5M. */
export function short(amount: number): string {
  if (amount < 1000) return String(amount);
  const [value, unit] = amount < 999_500 ? [amount / 1000, "k"] : [amount / 1_000_000, "M"];
  return `${value < 10 ? value.toFixed(1) : String(Math.round(value))}${unit}`;
}
