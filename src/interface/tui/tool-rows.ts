/** Draws a call and its result: one row when folded, the exact arguments and the result when unfolded. */

import { inert, inertLine, isObject, stringOf, tryParseJson } from "../../base/support/index.ts";
import {
  type BlockElicitation,
  exitCode,
  formatDuration,
  type ToolBlock,
  type ToolOutcome,
  toolTitle,
  waitedLabel,
  workedMs,
} from "../fragments/index.ts";
import { count, head, indent, type Rows, tail, textRows } from "./rows.ts";
import type { Style } from "./style.ts";
import { fit, widthOf } from "./terminal-library.ts";
import { growingRows, type View } from "./view-state.ts";

const MARGIN = "    ";
const MIN_TITLE = 8;

export function toolRows(block: ToolBlock, width: number, view: View): Rows {
  const { style } = view;
  const { verb, subject, facts, outcome } = toolTitle(block);
  const [sign, paint] = SIGNS[outcome];
  const tailText = tailOf(
    [...facts, ...timesOf(block, outcome, view)],
    width - 2 - Math.max(MIN_TITLE, widthOf(verb)),
  );
  const space = width - 2 - widthOf(tailText);
  const title = fit(`${inert(verb)} ${inert(subject)}`.trim(), Math.max(MIN_TITLE, space));
  const end = outcome === "failed" ? style.bad(tailText) : style.dim(tailText);
  const row = fit(`${style[paint](sign)} ${title}${end}`, width);
  const below = view.toolsOpen ? detailRows : worthSeeing;
  return [row, ...indent(below(block, width - MARGIN.length, view), MARGIN)];
}

const SIGNS: Readonly<Record<ToolOutcome, readonly [sign: string, paint: keyof Style]>> = {
  writing: ["▸", "accent"],
  running: ["▸", "accent"],
  asks: ["?", "warn"],
  ok: ["✓", "good"],
  failed: ["✗", "bad"],
  denied: ["✗", "warn"],
  stopped: ["■", "warn"],
  not_run: ["·", "dim"],
  unknown: ["?", "warn"],
};

/** Shows facts from the most to the least important, and leaves out those that do not fit next to the verb. */
function tailOf(facts: readonly string[], room: number): string {
  const tails = facts.map((_, at) => ` · ${facts.slice(0, facts.length - at).join(" · ")}`);
  return tails.find((one) => widthOf(one) <= room) ?? "";
}

/** How long it took, or what it is doing now. */
function timesOf(block: ToolBlock, outcome: ToolOutcome, view: View): readonly string[] {
  const { result, permission } = block;
  if (result !== undefined) {
    const worked = workedMs(block);
    return worked === undefined ? [] : [formatDuration(worked)];
  }
  if (outcome === "asks") {
    if (permission?.question?.waits === false) return ["/resume to answer"];
    const waited = view.now - view.since(`${block.id}?${block.askedAt ?? ""}`);
    return ["waits for your answer", ...(waited < 1000 ? [] : [waitedLabel(waited)])];
  }
  if (block.cut) return ["interrupted"];
  if (outcome === "unknown") return ["no result"];
  if (outcome === "writing") return block.generating ? ["being written"] : [];
  if (outcome !== "running") return [];
  // Counted from the moment it was first seen running, so without the wait for permission.
  const ms = view.now - view.since(`${block.id}!`) - block.pausedMs;
  return [ms < 1000 ? "running" : `running ${formatDuration(ms)}`];
}

/** Shows, even when folded, the current progress, why a call failed, and what the tool says to the person. */
function worthSeeing(block: ToolBlock, width: number, view: View): Rows {
  const { result, progress } = block;
  if (result === undefined) {
    const last = progress.trimEnd().split("\n").at(-1) ?? "";
    return last === "" ? [] : [view.style.dim(fit(inertLine(last, 500), width))];
  }
  const told = toolTitle(block).outcome === "ok" ? "" : result.text;
  const lines = [told, result.forPerson ?? ""].filter((text) => text !== "");
  if (lines.length === 0) return [];
  const rows = textRows(lines.join("\n"), width);
  // A command says at its end why it failed.
  const shown =
    exitCode(block) === undefined
      ? head(rows, 3, (more) => `… ${count(more, "more row")}`)
      : tail(rows, 3, (hidden) => `… ${count(hidden, "row")} above`);
  return shown.map((row) => view.style.dim(row));
}

/** The number of rows that fit on the screen with the rest; a longer block could not be folded again. */
function mostRows(view: View): number {
  return Math.max(8, view.height - 12);
}

function detailRows(block: ToolBlock, width: number, view: View): Rows {
  const given = argumentRows(block.arguments, width, view);
  const written =
    block.written === undefined ? [] : textRows(`repaired; the model wrote: ${block.written}`, width);
  return [
    ...given,
    ...written.map((row) => view.style.dim(row)),
    ...(block.elicitations ?? [])
      .flatMap((one) => textRows(askedText(one), width))
      .map((row) => view.style.dim(row)),
    ...outcomeRows(block, width, view).map((row) => view.style.dim(row)),
  ];
}

/** What the tool asked while it ran, and what it was told. The values were never kept. */
function askedText({ asked, action, by, waits }: BlockElicitation): string {
  const answer = action === undefined ? (waits ? "waits" : "no answer") : ACTION_WORDS[action];
  return `${asked.server} asked: ${asked.message} (${answer}${by === "policy" ? ", not by a person" : ""})`;
}

const ACTION_WORDS = { accept: "answered", decline: "declined", cancel: "cancelled" } as const;

function outcomeRows({ result, progress }: ToolBlock, width: number, view: View): Rows {
  if (result !== undefined) {
    const rows = [
      ...textRows(result.text === "" ? "(no output)" : result.text, width),
      ...(result.forPerson === undefined ? [] : textRows(`for you: ${result.forPerson}`, width)),
    ];
    return head(rows, mostRows(view), (more) => view.style.dim(`… ${count(more, "more row")}`));
  }
  if (progress === "") return [];
  const rows = textRows(progress.trimEnd(), width);
  return tail(rows, growingRows(view), (hidden) => `… ${count(hidden, "row")} above`);
}

/** Shows an edit as removed and added text, and any other call as one exact argument per line. */
function argumentRows(text: string, width: number, { style }: View): Rows {
  const parsed = tryParseJson(text);
  if (!isObject(parsed)) return text === "" ? [] : textRows(text, width);
  const find = stringOf(parsed["find"]);
  const replace = stringOf(parsed["replace"]);
  const isEdit = find !== undefined && replace !== undefined;
  const rows = Object.entries(parsed).flatMap(([name, value]) => {
    if (isEdit && (name === "find" || name === "replace")) return [];
    return textRows(`${inert(name)}: ${typeof value === "string" ? value : JSON.stringify(value)}`, width);
  });
  if (!isEdit) return rows;
  return [
    ...rows,
    ...textRows(find, width - 2).map((row) => style.bad(`- ${row}`)),
    ...textRows(replace, width - 2).map((row) => style.good(`+ ${row}`)),
  ];
}
