/**
 * Draws Markdown. marked reads it, and the rows are drawn here, because the Markdown of the terminal library shows fences,
 * breaks code and tables at the edge, and knows neither alignment nor task boxes. Rows above the last block do not change
 * when the text grows, except those of a table, whose columns may become wider (`hasTable` in markdown-chunks.ts).
 */

import { Marked, type MarkedToken, type Token, type Tokens } from "marked";

import { assertNever } from "../../base/support/index.ts";
import { codeRows } from "./code-rows.ts";
import { inlineText } from "./markdown-inline.ts";
import { closedStyles, type Rows } from "./rows.ts";
import type { Paint, Style } from "./style.ts";
import { tableRows } from "./table-rows.ts";
import { spaced, widthOf, wrap } from "./terminal-library.ts";
import type { View } from "./view-state.ts";

const marked = new Marked({ gfm: true });
// A single ~ means "about" more often than deleted text.
marked.use({ tokenizer: { del: (text) => (text.startsWith("~~") ? false : undefined) } });

const LONGEST_RULE = 80;

interface Look extends Pick<View, "style" | "highlight"> {
  /** The style of text that has none of its own. */
  readonly paint: Paint;
}

export function markdownRows(
  text: string,
  width: number,
  { style, highlight }: Pick<View, "style" | "highlight">,
): Rows {
  const look: Look = { style, paint: (words) => words, ...(highlight && { highlight }) };
  try {
    return blockRows(marked.lexer(spaced(text)), Math.max(1, width), look, false).map((row) => row.trimEnd());
  } catch (error) {
    // Thousands of quotes or lists in each other exceed the stack. Then the text itself is shown.
    if (!(error instanceof RangeError)) throw error;
    return wrap(text, width);
  }
}

/** Blocks that empty rows set apart, even if the text has no empty line there. */
const APART: ReadonlySet<string> = new Set(["blockquote", "code", "heading", "hr", "table"]);

/** In an item of a list, only empty lines of the text set blocks apart. */
function blockRows(tokens: readonly Token[], width: number, look: Look, inItem: boolean): Rows {
  const rows: string[] = [];
  let above: string | undefined;
  let isApart = false;
  for (const token of tokens) {
    if (token.type === "space") {
      isApart = true;
      continue;
    }
    const own = rowsOf(token as MarkedToken, width, look);
    if (own.length === 0) continue;
    isApart ||= !inItem && (APART.has(token.type) || APART.has(above ?? ""));
    if (isApart && above !== undefined) rows.push("");
    rows.push(...own);
    above = token.type;
    isApart = false;
  }
  return rows;
}

function rowsOf(token: MarkedToken, width: number, look: Look): Rows {
  const { style, paint } = look;
  const inline = (tokens: readonly Token[], own = paint): string => inlineText(tokens, style, own);
  switch (token.type) {
    case "heading":
      return wrap(inline(token.tokens, headingPaint(token.depth, style)), width);
    case "paragraph":
      return wrap(inline(token.tokens), width);
    case "code":
      return codeRows({ text: token.text, info: token.lang ?? "" }, width, look);
    case "blockquote":
      return quoteRows(token, width, look);
    case "list":
      return token.items.flatMap((item, at) => itemRows(token, item, at, width, look));
    case "table": {
      const cells = (row: readonly Tokens.TableCell[], own = paint): readonly string[] =>
        row.map((cell) => inline(cell.tokens, own));
      const { align } = token;
      const header = cells(token.header, (text) => paint(style.bold(text)));
      return tableRows({ header, rows: token.rows.map((row) => cells(row)), align }, width, style);
    }
    case "hr":
      return [style.dim("─".repeat(Math.min(width, LONGEST_RULE)))];
    case "checkbox":
      return [];
    case "html":
    case "def":
      return wrap(paint(token.raw.trim()), width);
    case "text":
    case "br":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "list_item":
    case "space":
    case "strong":
      return wrap(inline([token]), width);
    default:
      return assertNever(token, "token");
  }
}

function headingPaint(depth: number, style: Style): Paint {
  return depth === 1
    ? (text) => style.accent(style.bold(style.underline(text)))
    : (text) => style.accent(style.bold(text));
}

function quoteRows(token: Tokens.Blockquote, width: number, look: Look): Rows {
  const { style } = look;
  const rows = blockRows(token.tokens, Math.max(1, width - 2), { ...look, paint: style.italic }, false);
  return rows.map((row) => style.dim("│ ") + closedStyles(row));
}

function itemRows(list: Tokens.List, item: Tokens.ListItem, at: number, width: number, look: Look): Rows {
  const number = list.ordered ? `${Number(list.start) + at}. ` : "";
  const sign = item.task ? (item.checked === true ? "☑ " : "☐ ") : list.ordered ? "" : "- ";
  const marker = number + sign;
  const hang = " ".repeat(widthOf(marker));
  const rows = blockRows(item.tokens, Math.max(1, width - hang.length), look, true);
  const [first = "", ...others] = rows;
  const drawn = [look.style.accent(marker) + first, ...others.map((row) => (row === "" ? "" : hang + row))];
  // Decided item by item: an empty line further down must not move the rows above it.
  const isApart = at < list.items.length - 1 && /\n[ \t]*\n$/.test(item.raw);
  return isApart ? [...drawn, ""] : drawn;
}
