/**
 * Draws a code block: its language as a dim label, then the code, coloured and without fences. Only a constant indent
 * stands in front of the code, so that selected rows are the code. Rows depend on the text alone and not on its colours:
 * rows that are printed stay right when the code grows or the highlighter arrives.
 */

import { type CodePiece, type CodeTone, plainRows } from "../highlight/index.ts";
import type { Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, widthOf } from "./terminal-library.ts";
import type { View } from "./view-state.ts";

const INDENT = "  ";
/** How much deeper the rest of a line that was too long begins. */
const HANG = 2;

export interface Code {
  readonly text: string;
  /** What follows the opening fence: a language, sometimes with more behind it. */
  readonly info: string;
}

export function codeRows(code: Code, width: number, view: Pick<View, "style" | "highlight">): Rows {
  const { style, highlight = plainRows } = view;
  const label = code.info === "" ? [] : [style.dim(fit(code.info, width))];
  if (code.text === "") return label;
  const room = Math.max(1, width - INDENT.length);
  const lines = highlight(code.text, languageOf(code.info));
  const rows = lines.flatMap((line) => lineRows(line, room, style));
  return [...label, ...rows.map((row) => (row === "" ? "" : INDENT + row))];
}

/** `ts title="a.ts"`, `python {1,2}` and `js,ignore` begin with their language. */
function languageOf(info: string): string {
  return (/^[^\s,{:]+/.exec(info)?.[0] ?? "").toLowerCase();
}

function lineRows(line: readonly CodePiece[], room: number, style: Style): Rows {
  const text = line.map((piece) => piece.text).join("");
  if (widthOf(text) <= room) return [paintedCode(line, 0, text.length, style)];
  const indent = widthOf(/^ */.exec(text)?.[0] ?? "");
  const hang = Math.min(indent + HANG, Math.floor(room / 2));
  const ends = rowEnds(text, room, room - hang);
  return ends.map((end, at) => {
    const row = paintedCode(line, ends[at - 1] ?? 0, end, style);
    return at === 0 ? row : " ".repeat(hang) + row;
  });
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const RUNS = /[ -~]+(?![^ -~])|[ -~]?[^ -~]+/g;

/** The segmenter takes quadratic time for long texts (Node 20), so ASCII, which most code is, does without it. */
function* graphemesOf(text: string): Generator<{ readonly segment: string; readonly index: number }> {
  for (const { 0: run, index: begin } of text.matchAll(RUNS)) {
    if (/^[ -~]*$/.test(run)) {
      for (let at = 0; at < run.length; at += 1) yield { segment: run.charAt(at), index: begin + at };
    } else {
      for (const { segment, index } of GRAPHEMES.segment(run)) yield { segment, index: begin + index };
    }
  }
}

/** Where each row of a line ends: behind a space if there is one in its second half, otherwise where it is full. */
function rowEnds(text: string, first: number, others: number): readonly number[] {
  const ends: number[] = [];
  let [begin, wide, space, behindSpace] = [0, 0, 0, 0];
  for (const { segment, index } of graphemesOf(text)) {
    const room = ends.length === 0 ? first : others;
    const more = widthOf(segment);
    if (wide + more > room && index > begin) {
      const isLate = space > begin && wide - behindSpace > room / 2;
      begin = isLate ? space : index;
      wide = isLate ? behindSpace : 0;
      ends.push(begin);
    }
    wide += more;
    behindSpace += more;
    if (segment === " ") [space, behindSpace] = [index + 1, 0];
  }
  return [...ends, text.length];
}

function paintedCode(line: readonly CodePiece[], from: number, to: number, style: Style): string {
  let row = "";
  let at = 0;
  for (const { text, tone } of line) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    const paint = PAINTS[tone];
    row += paint === undefined ? part : style[paint](part);
    at += text.length;
  }
  return row;
}

/** Numbers and names look like the rest: few colours are easier to read. */
const PAINTS: Readonly<Record<CodeTone, keyof Style | undefined>> = {
  plain: undefined,
  keyword: "accent",
  string: "good",
  comment: "dim",
  number: undefined,
  name: undefined,
  added: "good",
  removed: "bad",
};
