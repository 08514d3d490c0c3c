/**
 * Everything below the printed blocks: the queue, what is under way, the status, where a person types or answers.
 * What a person types into is never left out, however small the terminal is.
 */

import { inertLine } from "../../base/support/index.ts";
import { formatDuration } from "../fragments/index.ts";
import type { EditorView } from "./line-editor.ts";
import { indent, type Rows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, wrap } from "./terminal-library.ts";

export interface FooterParts {
  readonly queue: readonly string[];
  /** What the queue waits for. */
  readonly waits: "turn" | "server" | "person";
  readonly workingMs: number | undefined;
  readonly hint: string | undefined;
  /** Stands above the input: a question, a word about it. */
  readonly above: Rows;
  readonly input: EditorView;
  readonly status: Rows;
}

export function footer(parts: FooterParts, width: number, height: number, style: Style): EditorView {
  // The only row as wide as the terminal: a terminal that gets narrower breaks such rows in pieces.
  const rule = style.dim("─".repeat(Math.max(1, width)));
  const input = parts.input.rows;
  // From the most to the least important; what has no room is left out.
  let room = height - 1 - input.length - parts.above.length;
  const take = (rows: Rows): Rows => {
    if (rows.length > room) return [];
    room -= rows.length;
    return rows;
  };
  // Wrapped, not cut: what it says at its end (how to leave) is what a person needs.
  const hint = take(parts.hint === undefined ? [] : wrap(style.warn(parts.hint), width));
  const working = take(workingRows(parts, width, style));
  const status = take(parts.status);
  const rules = take([rule]);
  const queue = take(queueRows(parts, width, style));
  const space = take([""]);
  // Nothing below the input: a terminal that gets narrower breaks rows, and some (xterm.js) then count those below the
  // cursor as if they stood above it. Where the input is last, going up by what was broken is right everywhere.
  const before = [...space, ...queue, ...working, ...hint, ...status, ...rules, ...parts.above];
  return {
    rows: [...before, ...input],
    cursor: { row: before.length + parts.input.cursor.row, column: parts.input.cursor.column },
  };
}

function workingRows({ workingMs, queue }: FooterParts, width: number, style: Style): Rows {
  if (workingMs === undefined) return [];
  const time = workingMs < 1000 ? "" : ` ${formatDuration(workingMs)}`;
  const queued = queue.length === 0 ? "" : ` · ${queue.length} queued`;
  return [fit(`${style.accent("●")} Working${time} ${style.dim(`· Esc stops${queued}`)}`, width)];
}

const SHOWN = 3;

const HOW = {
  turn: "Alt+Up takes them back",
  server: "Sent when the server is back; Alt+Up takes them back",
  person: "Held: Enter sends them, Alt+Up takes them back",
} as const;

function queueRows({ queue, waits }: FooterParts, width: number, style: Style): Rows {
  if (queue.length === 0) return [];
  const shown = queue.slice(0, SHOWN).map((text) => fit(style.dim(`  ⋯ ${inertLine(text, 500)}`), width));
  const more = queue.length > SHOWN ? [style.dim(`  ⋯ and ${queue.length - SHOWN} more`)] : [];
  // Wrapped, not cut: how to get them back stands at its end.
  const how = indent(wrap(HOW[waits], width - 2), "  ").map((row) => style.dim(row));
  return [...shown, ...more, ...how];
}
