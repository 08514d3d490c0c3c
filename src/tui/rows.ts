/**
 * Rows: what a component renders to. A row is text with styles, at most as wide as the terminal, without a line feed.
 *
 * `sealed` is the last gate before the terminal: whatever a component did, only text and styles pass it.
 *
 * @module
 */

import { inert } from "../support/index.ts";
import { fit, wrap } from "./terminal-library.ts";

export type Rows = readonly string[];

export interface Component {
  render(width: number): Rows;
}

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const STYLES = /(\u001B\[(?:(?:0|1|2|3|4|9|2[2349]|3[1-369])(?:;(?=\d)|(?=m)))*m)/;

export function sealed(row: string, width: number): string {
  const parts = row.split(STYLES);
  const safe = parts.map((part, at) => (at % 2 === 1 ? part : inert(part).replaceAll(/[\n\t]/g, " ")));
  return fit(safe.join(""), width);
}

/** Untrusted text, wrapped, each row behind a margin. */
export function textRows(text: string, width: number, margin = ""): Rows {
  return indent(wrap(inert(text), width - margin.length), margin);
}

export function indent(rows: Rows, margin: string): Rows {
  return rows.map((row) => margin + row);
}

/** The last rows, with a word about those before them. */
export function tail(rows: Rows, most: number, mark: (hidden: number) => string): Rows {
  if (rows.length <= most) return rows;
  const shown = Math.max(1, most - 1);
  return [mark(rows.length - shown), ...rows.slice(-shown)];
}

/** The first rows, with a word about those behind them. */
export function head(rows: Rows, most: number, mark: (hidden: number) => string): Rows {
  if (rows.length <= most) return rows;
  const shown = Math.max(1, most - 1);
  return [...rows.slice(0, shown), mark(rows.length - shown)];
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
