/**
 * Everything below the printed blocks: the queue, the running turn, the status line, and the input or question. The input
 * is never left out, however small the terminal is.
 */

import { inertLine } from "../../base/support/index.ts";
import { formatDuration, waitedLabel } from "../fragments/index.ts";
import type { EditorView } from "./line-editor.ts";
import { indent, type Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, wrap } from "./terminal-library.ts";

export interface FooterParts {
  /** Messages on their way into the running turn. */
  readonly steering?: readonly string[];
  readonly queue: readonly string[];
  /** Whether a message is being typed. */
  readonly typing?: boolean;
  /** What the queue waits for. */
  readonly waits: "turn" | "server" | "person";
  readonly workingMs: number | undefined;
  /** How long the question has waited that someone else must answer. */
  readonly askedMs?: number | undefined;
  /** Another process runs the turn, so it cannot be stopped or steered here. */
  readonly watching?: boolean;
  readonly hint: string | undefined;
  /** Rows above the input: a question, or a hint about it. */
  readonly above: Rows;
  readonly input: EditorView;
  readonly status: Rows;
}

export function footer(parts: FooterParts, width: number, height: number, style: Style): EditorView {
  // The only row as wide as the terminal, because a terminal that gets narrower wraps such rows.
  const rule = style.dim("─".repeat(Math.max(1, width)));
  const input = parts.input.rows;
  // From the most to the least important; parts that do not fit are left out.
  let room = height - 1 - input.length - parts.above.length;
  const take = (rows: Rows): Rows => {
    if (rows.length > room) return [];
    room -= rows.length;
    return rows;
  };
  // Wrap the hint instead of cutting it: its end (how to exit) is what the user needs.
  const hint = take(parts.hint === undefined ? [] : wrap(style.warn(parts.hint), width));
  const working = take(workingRows(parts, width, style));
  const status = take(parts.status);
  const rules = take([rule]);
  const queue = take(queueRows(parts, width, style));
  const steering = take(steeringRows(parts, width, style));
  const space = take([""]);
  // Keep the input last: when a terminal gets narrower it wraps rows, and some terminals (xterm.js) then count rows below
  // the cursor as if they were above it. With the input last, moving up by the wrapped rows is right everywhere.
  const before = [...space, ...steering, ...queue, ...working, ...hint, ...status, ...rules, ...parts.above];
  return {
    rows: [...before, ...input],
    cursor: { row: before.length + parts.input.cursor.row, column: parts.input.cursor.column },
  };
}

function workingRows(parts: FooterParts, width: number, style: Style): Rows {
  const { workingMs, askedMs, queue, typing, watching } = parts;
  if (workingMs === undefined) return [];
  const waited = askedMs === undefined || askedMs < 1000 ? "" : ` · ${waitedLabel(askedMs)}`;
  const time = workingMs < 1000 ? waited : ` ${formatDuration(workingMs)}${waited}`;
  if (watching === true) return [fit(`${style.accent("●")} Working${time}`, width)];
  const queued = queue.length === 0 ? "" : ` · ${queue.length} queued`;
  const steer = typing === true ? " · Ctrl+S sends now" : "";
  return [fit(`${style.accent("●")} Working${time} ${style.dim(`· Esc stops${steer}${queued}`)}`, width)];
}

const SHOWN = 3;

const HOW = {
  turn: "Alt+Up to edit them",
  server: "Sent when the server is back; Alt+Up to edit them",
  person: "On hold: Enter to send them, Alt+Up to edit them",
} as const;

function steeringRows({ steering = [] }: FooterParts, width: number, style: Style): Rows {
  if (steering.length === 0) return [];
  const shown = steering.slice(0, SHOWN).map((text) => fit(style.dim(`  ↪ ${inertLine(text, 500)}`), width));
  const more = steering.length > SHOWN ? [style.dim(`  ↪ and ${steering.length - SHOWN} more`)] : [];
  return [...shown, ...more, ...indent(wrap(JOINS, width - 2), "  ").map((row) => style.dim(row))];
}

const JOINS = "Sent; joins the turn before its next request";

function queueRows({ queue, waits }: FooterParts, width: number, style: Style): Rows {
  if (queue.length === 0) return [];
  const shown = queue.slice(0, SHOWN).map((text) => fit(style.dim(`  ⋯ ${inertLine(text, 500)}`), width));
  const more = queue.length > SHOWN ? [style.dim(`  ⋯ and ${queue.length - SHOWN} more`)] : [];
  // Wrap the hint instead of cutting it: it ends with how to get the messages back.
  const how = indent(wrap(HOW[waits], width - 2), "  ").map((row) => style.dim(row));
  return [...shown, ...more, ...how];
}
