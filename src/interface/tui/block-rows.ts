/** Renders a block as rows. Pure: the same block, width and view give the same rows. */

import { isLimit } from "../../base/api/index.ts";
import { assertNever, inert, inertLine } from "../../base/support/index.ts";
import {
  type Block,
  formatDuration,
  type NoticeBlock,
  type TextBlock,
  type TurnEndBlock,
  type UserBlock,
  workedLabel,
} from "../fragments/index.ts";
import { markdownRows } from "./markdown-rows.ts";
import { reasoningRows } from "./reasoning-rows.ts";
import { count, head, indent, type Rows, short } from "./rows.ts";
import { widthOf, wrap } from "./terminal-library.ts";
import { toolRows } from "./tool-rows.ts";
import type { View } from "./view-state.ts";

export function blockRows(block: Block, width: number, view: View): Rows {
  switch (block.kind) {
    case "user":
      return userRows(block, width, view);
    case "reasoning":
      return reasoningRows(block, width, view);
    case "text":
      return answerRows(block, block.text, width, view);
    case "tool":
      return toolRows(block, width, view);
    case "notice":
      return noticeRows(block, width, view);
    case "turn_end":
      return turnEndRows(block, width, view);
    default:
      return assertNever(block, "block");
  }
}

function userRows(block: UserBlock, width: number, { style }: View): Rows {
  const who = block.by === "person" ? "" : "(runtime) ";
  const whole = wrap(inert(`${who}${block.text}`), width - 2);
  const paint = block.by === "person" ? style.bold : style.dim;
  // The runtime's requests to the model are always the same, so their first rows identify them.
  const rows = block.by === "person" ? whole : head(whole, 3, (more) => `… ${count(more, "more row")}`);
  const sign = block.steer === true ? "↪ " : "› ";
  return rows.map((row, at) => `${style.accent(at === 0 ? sign : "  ")}${paint(row)}`);
}

/** Renders part of an answer. Commentary is dimmed, never hidden (failures.md U07). */
export function answerRows(block: TextBlock, text: string, width: number, view: View): Rows {
  const rows = markdownRows(inert(text), width, view);
  return block.phase === "commentary" ? rows.map((row) => view.style.dim(row)) : rows;
}

function noticeRows(block: NoticeBlock, width: number, view: View): Rows {
  const text = inertLine(block.text, 2000);
  if (block.waitMs === undefined) return withSign("!", text, width, view.style.warn);
  const left = Math.max(0, block.waitMs - (view.now - view.since(block.id)));
  const told = left < 1000 ? "retrying" : `retrying in ${formatDuration(left)}`;
  return withSign("↻", `${text} · ${told}`, width, view.style.warn);
}

function withSign(sign: string, text: string, width: number, paint: (text: string) => string): Rows {
  return wrap(inert(text), width - 2).map((row, at) => paint(`${at === 0 ? `${sign} ` : "  "}${row}`));
}

function turnEndRows(block: TurnEndBlock, width: number, { style }: View): Rows {
  const { usage } = block;
  const facts = [
    workedLabel(block),
    count(block.steps, "request"),
    // A turn stopped before its first response ends has no token counts, so show none.
    usage.inputTokens === 0 && usage.outputTokens === 0
      ? undefined
      : `↑${short(usage.inputTokens)} ↓${short(usage.outputTokens)}`,
    usage.reasoningTokens > 0 ? `${short(usage.reasoningTokens)} reasoning` : undefined,
  ].filter((fact) => fact !== undefined);
  const row = `─ ${facts.join(" · ")}`;
  const told = wrap(widthOf(row) + 2 <= width ? `${row} ─` : row, width).map((one) => style.dim(one));
  const why = whyOf(block);
  if (why === undefined) return told;
  const paint = block.status === "failed" ? style.bad : style.warn;
  return [...withSign(block.status === "failed" ? "✗" : "■", why, width, paint), ...told];
}

function whyOf({ status, reason, error }: TurnEndBlock): string | undefined {
  const because = error === undefined ? (reason ?? "") : `${error.message} [${error.code}]`;
  switch (status) {
    case "completed":
      return undefined;
    case "cancelled":
      return "Stopped. Everything written so far is kept; your next message continues from here.";
    case "interrupted":
      return "Interrupted: the process that ran this turn ended.";
    case "incomplete":
      return `${isLimit(reason) ? "Ended at a limit" : "Ended without a complete answer"}${because === "" ? "" : `: ${because}`}.`;
    case "failed":
      return `Failed: ${because}. /retry tries again.`;
    default:
      return assertNever(status, "status");
  }
}

export const NOTE_MARGIN = 2;

/** Renders a note of the interface itself: help, or the result or error of a command. */
export function noteRows(text: string, width: number, { style }: View): Rows {
  const rows = inert(text)
    .split("\n")
    .flatMap((line) => tableRows(line, width - NOTE_MARGIN));
  return indent(rows, " ".repeat(NOTE_MARGIN)).map((row) => style.dim(row));
}

const LEAST_COLUMN = 20;

/** Wraps the second of two columns in place, or puts it below the first if there is no room. */
function tableRows(line: string, width: number): Rows {
  const [, left = "", right = ""] = /^(.*\S {2,})(\S.*)$/.exec(line) ?? [];
  if (left === "" || widthOf(line) <= width) return wrap(line, width);
  const room = width - widthOf(left);
  if (room < LEAST_COLUMN) return [...wrap(left.trimEnd(), width), ...indent(wrap(right, width - 2), "  ")];
  return wrap(right, room).map((row, at) => (at === 0 ? left + row : " ".repeat(widthOf(left)) + row));
}
