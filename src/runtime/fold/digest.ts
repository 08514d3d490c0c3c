/**
 * A digest made from the log alone: the user's messages, the heads of answers, the names of tools. For a session whose
 * summary no model could write; bounded, so that it always fits. Pure.
 */

import type { InputPart } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import type { Entry, Group } from "./entries.ts";

const DIGEST_HEADING = "[Digest made from the log: no model could write a summary.]";

/** Keeps the newest lines. Older ones that do not fit are omitted, and a line says how many. */
export function digestOf(entries: readonly Entry[], maxLength: number): string {
  const lines = entries.flatMap(linesOf);
  const perLine = Math.max(MIN_LINE, Math.floor(maxLength / 8));
  const kept: string[] = [];
  let length = DIGEST_HEADING.length + LEFT_OUT_ROOM;
  for (const line of lines.toReversed()) {
    const short = shorten(line, perLine);
    if (length + short.length + 1 > maxLength) break;
    length += short.length + 1;
    kept.push(short);
  }
  const left = lines.length - kept.length;
  const gap = left === 0 ? [] : [`(${left} earlier ${left === 1 ? "line is" : "lines are"} left out)`];
  return [DIGEST_HEADING, ...gap, ...kept.toReversed()].join("\n");
}

const MIN_LINE = 60;
const LEFT_OUT_ROOM = 40;

function linesOf(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case "user":
      return [`${entry.event.by === "person" ? "User" : "Runtime"}: ${contentText(entry.event.content)}`];
    case "summary":
      return entry.event.summary.split("\n").filter((line) => line !== "" && line !== DIGEST_HEADING);
    case "group":
      return groupLines(entry);
    default:
      return assertNever(entry, "entry");
  }
}

/** Only ended responses count; the rest was for people. */
function groupLines(group: Group): readonly string[] {
  if (group.end?.status !== "completed" && group.end?.status !== "incomplete") return [];
  return group.items.flatMap((item): readonly string[] => {
    if (item.type === "assistant_message")
      return item.text === "" ? [] : [`Assistant: ${shorten(item.text, 400)}`];
    if (item.type !== "tool_call") return [];
    const result = group.resultOf(item.callId);
    const outcome = result === undefined ? "no result" : `${result.status}, ${shorten(result.text, 120)}`;
    return [`Tool ${item.name}(${shorten(item.arguments, 120)}): ${outcome}`];
  });
}

export function contentText(content: readonly InputPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

/** On one line. A cut names the full length, because a cut is information too. */
function shorten(text: string, maxLength: number): string {
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= maxLength && text.length <= maxLength * 4) return line;
  const tail = ` … (${text.length} characters)`;
  return `${line.slice(0, Math.max(0, maxLength - tail.length)).toWellFormed()}${tail}`;
}
