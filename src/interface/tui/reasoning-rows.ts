/**
 * Draws reasoning. While generating, it shows the current title; unfolded, also the text so far below the ticked titles
 * of earlier parts. When done, it shows the duration; unfolded, also all parts. It can be folded at any time.
 */

import { inert, inertLine } from "../../base/support/index.ts";
import { formatDuration, type ReasoningBlock, reasoningLabel } from "../fragments/index.ts";
import { count, indent, type Rows, tail, textRows } from "./rows.ts";
import { fit, markdownRows } from "./terminal-library.ts";
import { growingRows, type View } from "./view-state.ts";

const MARGIN = "  ";
const MAX_TITLE = 80;

export function reasoningRows(block: ReasoningBlock, width: number, view: View): Rows {
  // Without parts there is nothing to unfold (R14).
  const open = view.reasoningOpen && block.parts.length > 0;
  const sign = open ? "▾" : "▸";
  if (!block.generating) {
    const label = fitted(`${sign} ${inertLine(reasoningLabel(block), 300)}`, width, view);
    return open ? [...label, ...indent(allParts(block, width - MARGIN.length, view), MARGIN)] : label;
  }
  const time = elapsed(view.now - view.since(block.id));
  const part = block.parts.length > 1 ? `part ${block.parts.length}` : "";
  const facts = [time, part].filter((fact) => fact !== "").join(" · ");
  const title = withDots(inertLine(reasoningLabel(block), MAX_TITLE));
  const label = fitted(`${sign} ${title}${facts === "" ? "" : ` ${facts}`}`, width, view);
  return open ? [...label, ...indent(partsSoFar(block, width - MARGIN.length, view), MARGIN)] : label;
}

/** Wraps a label to at most three rows; a longer one is cut to one row. */
function fitted(label: string, width: number, view: View): Rows {
  const rows = textRows(label, width);
  return rows.length <= 3 ? rows.map((row) => view.style.dim(row)) : [view.style.dim(fit(label, width))];
}

function withDots(title: string): string {
  return title.endsWith("…") ? title : `${title}…`;
}

function elapsed(ms: number): string {
  return ms < 1000 ? "" : formatDuration(ms);
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
  return markdownRows(inert(text), width, view.style).map((row) => view.style.dim(row));
}
