/**
 * Draws reasoning. While generating, it shows the current title; unfolded, also the text so far below the ticked titles
 * of earlier parts. When done, it shows the duration; unfolded, also all parts. It can be folded at any time.
 */

import { inert, inertLine } from "../../base/support/index.ts";
import { liveThoughtFacts, type ReasoningBlock, reasoningLabel } from "../fragments/index.ts";
import { markdownRows } from "./markdown-rows.ts";
import { count, indent, type Rows, tail, textRows } from "./rows.ts";
import { fit } from "./terminal-library.ts";
import { growingRows, type View } from "./view-state.ts";

const MARGIN = "  ";
const MAX_TITLE = 80;

export function reasoningRows(block: ReasoningBlock, width: number, view: View): Rows {
  // Without parts there is nothing to unfold (R14).
  const open = view.reasoningOpen && block.parts.length > 0;
  const sign = open ? "▾" : "▸";
  if (!block.generating) {
    const label = labelRows(
      `${sign} ${inertLine(reasoningLabel(block), 300)}`,
      unsentOf(block, view),
      width,
      view,
    );
    return open ? [...label, ...indent(allParts(block, width - MARGIN.length, view), MARGIN)] : label;
  }
  const facts = liveThoughtFacts(block, view.now - view.since(block.id));
  const title = withDots(inertLine(reasoningLabel(block), MAX_TITLE));
  const label = labelRows(`${sign} ${title}${facts === "" ? "" : ` ${facts}`}`, undefined, width, view);
  return open ? [...label, ...indent(partsSoFar(block, width - MARGIN.length, view), MARGIN)] : label;
}

/** What makes the thought stay behind, if it does. */
function unsentOf(block: ReasoningBlock, { marks }: View): string | undefined {
  const unsent = marks.of(block);
  return unsent === undefined ? undefined : inertLine(unsent.words, 300);
}

const NOT_SENT = "Not sent";

/** Wraps a label to at most three rows; a longer one is cut to one row. The mark stands out. */
function labelRows(label: string, unsent: string | undefined, width: number, { style }: View): Rows {
  const marked = unsent === undefined ? label : `${label} · ${NOT_SENT} · ${unsent}`;
  const wrapped = textRows(marked, width);
  const rows = wrapped.length <= 3 ? wrapped : [fit(marked, width)];
  const at = unsent === undefined ? -1 : rows.findIndex((row) => row.includes(NOT_SENT));
  return rows.map((row, index) => {
    if (index !== at) return style.dim(row);
    const begin = row.indexOf(NOT_SENT);
    const [before, behind] = [row.slice(0, begin), row.slice(begin + NOT_SENT.length)];
    return `${style.dim(before)}${style.warn(NOT_SENT)}${style.dim(behind)}`;
  });
}

function withDots(title: string): string {
  return title.endsWith("…") ? title : `${title}…`;
}

function partsSoFar(block: ReasoningBlock, width: number, view: View): Rows {
  const earlier = block.parts.slice(0, -1);
  const ticked = earlier.map(({ title }) =>
    view.style.dim(fit(`✓ ${inertLine(title ?? "…", MAX_TITLE)}`, width)),
  );
  const body = block.parts.at(-1)?.body ?? "";
  const rows = body === "" ? [] : bodyRows(body, width, view);
  return [
    ...ticked,
    ...tail(rows, growingRows(view), (hidden) => view.style.dim(`… ${count(hidden, "row")} above`)),
  ];
}

function allParts(block: ReasoningBlock, width: number, view: View): Rows {
  return block.parts.flatMap(({ title, body }) => [
    ...(title === undefined ? [] : textRows(title, width).map((row) => view.style.bold(row))),
    ...(body === "" ? [] : bodyRows(body, width, view)),
  ]);
}

function bodyRows(text: string, width: number, view: View): Rows {
  return markdownRows(inert(text), width, view).map((row) => view.style.dim(row));
}
