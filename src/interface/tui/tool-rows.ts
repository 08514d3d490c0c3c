/** Draws a call and its result: one row when folded, the exact arguments and the result when unfolded. */

import type { ToolStatus } from "../../base/events/index.ts";
import { inert, inertLine, isObject, stringOf, tryParseJson } from "../../base/support/index.ts";
import { type BlockElicitation, formatDuration, type ToolBlock, toolLabel } from "../fragments/index.ts";
import { count, head, indent, type Rows, tail, textRows } from "./rows.ts";
import type { Paint, Style } from "./style.ts";
import { fit } from "./terminal-library.ts";
import { growingRows, type View } from "./view-state.ts";

const MARGIN = "    ";

export function toolRows(block: ToolBlock, width: number, view: View): Rows {
  const { style } = view;
  const [sign, paint] = signOf(block, view);
  const name = inertLine(toolLabel(block), 60);
  const tailText = tailOf(factsOf(block, view), width - 2 - name.length);
  const space = width - 2 - tailText.length;
  const title = fit(`${name} ${summaryOf(block)}`.trim(), Math.max(8, space));
  const row = fit(`${paint(sign)} ${title}${style.dim(tailText)}`, width);
  const below = view.toolsOpen ? detailRows : worthSeeing;
  return [row, ...indent(below(block, width - MARGIN.length, view), MARGIN)];
}

function signOf(block: ToolBlock, { style }: View): readonly [string, Paint] {
  if (block.result !== undefined) {
    const [sign, paint] = RESULT_SIGNS[block.result.status];
    return [sign, style[paint]];
  }
  if (block.permission?.question !== undefined || asksNow(block)) return ["?", style.warn];
  return [block.generating ? "▸" : "·", style.accent];
}

const RESULT_SIGNS: Readonly<Record<ToolStatus, readonly [sign: string, paint: keyof Style]>> = {
  ok: ["✓", "good"],
  error: ["✗", "bad"],
  denied: ["✗", "warn"],
  timeout: ["✗", "bad"],
  cancelled: ["■", "warn"],
  not_executed: ["·", "dim"],
  outcome_unknown: ["?", "warn"],
};

/** The labels of calls that did not succeed. */
export const TOOL_STATUS_WORDS: Readonly<Partial<Record<ToolStatus, string>>> = {
  error: "failed",
  denied: "denied",
  timeout: "timed out",
  cancelled: "stopped",
  not_executed: "not executed",
  outcome_unknown: "outcome unknown",
};

function asksNow({ elicitations }: ToolBlock): boolean {
  return elicitations?.some(({ waits }) => waits) === true;
}

/** Shows facts from the most to the least important, and leaves out those that do not fit next to the tool's name. */
function tailOf(facts: readonly string[], room: number): string {
  const tails = facts.map((_, at) => ` · ${facts.slice(0, facts.length - at).join(" · ")}`);
  return tails.find((one) => one.length <= room) ?? "";
}

function factsOf(block: ToolBlock, view: View): readonly string[] {
  const { result } = block;
  const question = block.permission?.question;
  if (result !== undefined) {
    const lines = result.text === "" ? 0 : result.text.trimEnd().split("\n").length;
    return [
      TOOL_STATUS_WORDS[result.status],
      result.durationMs === undefined ? undefined : durationOf(result.durationMs),
      lines > 1 ? count(lines, "line") : undefined,
      result.images === undefined ? undefined : count(result.images.length, "image"),
      ...(result.sessions ?? []).map((id) => `session ${inertLine(id, 64)}`),
    ].filter((fact) => fact !== undefined);
  }
  if (question !== undefined) return [question.waits ? "waits for your answer" : "/resume to answer"];
  if (asksNow(block)) return ["waits for your answer"];
  if (block.cut) return ["interrupted"];
  if (!block.generating) return [];
  const ms = view.now - view.since(block.id);
  if (block.callId === undefined) return ["being written"];
  return [ms < 1000 ? "running" : `running ${formatDuration(ms)}`];
}

function durationOf(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatDuration(ms);
}

/** Returns the most telling argument, or all of them. */
function summaryOf(block: ToolBlock): string {
  const parsed = tryParseJson(block.arguments);
  if (!isObject(parsed)) return inertLine(block.arguments, 200);
  const names = Object.keys(parsed);
  const telling = ["path", "command", "pattern", "query", "url"].find(
    (name) => stringOf(parsed[name]) !== undefined,
  );
  if (telling !== undefined) {
    const more = names.length > 1 ? ` (+${names.length - 1})` : "";
    return inertLine(stringOf(parsed[telling]) ?? "", 200) + more;
  }
  return names.length === 0 ? "" : inertLine(block.arguments, 200);
}

/** Shows, even when folded, the current progress, why a call failed, and what the tool says to the person. */
function worthSeeing(block: ToolBlock, width: number, view: View): Rows {
  const { result, progress } = block;
  if (result === undefined) {
    const last = progress.trimEnd().split("\n").at(-1) ?? "";
    return last === "" ? [] : [view.style.dim(fit(inertLine(last, 500), width))];
  }
  const told = result.status === "ok" ? "" : result.text;
  const lines = [told, result.forPerson ?? ""].filter((text) => text !== "");
  if (lines.length === 0) return [];
  return head(textRows(lines.join("\n"), width), 3, (more) => `… ${count(more, "more row")}`).map((row) =>
    view.style.dim(row),
  );
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
