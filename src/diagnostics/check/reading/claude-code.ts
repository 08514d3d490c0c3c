/**
 * Claude Code transcripts as entries: the path to the last line. Where the tool compacted, the lines before stay as entries,
 * and a cut says that they are no longer sent. Sub-agents (side chains) and abandoned branches are left out and counted.
 */

import { objectOf, sliceArray, stringOf } from "../../../base/support/index.ts";
import type { RecordFile } from "../element-list.ts";
import { contentOf, isTalk, LINKS } from "../formats/claude-code.ts";
import { jsonLines } from "../json-lines.ts";
import { textMember } from "../json-text.ts";
import {
  type AnswerEntry,
  type EntryList,
  type HistoryEntry,
  type LeftOutList,
  textIn,
  timeOf,
} from "./entry.ts";
import { blocksIn, claudeInput } from "./from-messages.ts";

export function readClaudeCode(text: string, left: LeftOutList): EntryList {
  const file = jsonLines(text);
  const talk = file.values.flatMap((value, line) => (value !== undefined && isTalk(value) ? [line] : []));
  const segments = segmentsOf(file, talk);
  const entries: HistoryEntry[] = [];
  const sent = new Set(segments.flat());
  const answers = new Map<string, { readonly at: number; items: readonly string[] }>();
  for (const [n, lines] of segments.entries()) {
    if (n > 0) entries.push({ kind: "cut", before: entries.length, summary: "" });
    for (const line of lines) take(file, line, { entries, answers, left });
  }
  const side = file.values.filter(
    (value) => value?.["isSidechain"] === true && value["message"] !== undefined,
  );
  left.add("message of a sub-agent", "messages of sub-agents", side.length);
  left.add("message on another branch", "messages on other branches", talk.length - sent.size);
  const failed = file.values.filter((value) => value?.["isApiErrorMessage"] === true).length;
  left.add("error message of the API", "error messages of the API", failed);
  const values = file.values.map(objectOf);
  return {
    entries,
    title: values
      .map((value) => textIn(value, "customTitle", "aiTitle") ?? summaryIn(value))
      .findLast(Boolean),
    cwd: values.map((value) => textIn(value, "cwd")).findLast(Boolean),
  };
}

function summaryIn(value: Readonly<Record<string, unknown>>): string | undefined {
  return value["type"] === "summary" ? textIn(value, "summary") : undefined;
}

interface Taken {
  readonly entries: HistoryEntry[];
  /** Several lines with the same message id are one answer. */
  readonly answers: Map<string, { readonly at: number; items: readonly string[] }>;
  readonly left: LeftOutList;
}

function take(file: RecordFile, line: number, { entries, answers, left }: Taken): void {
  const value = objectOf(file.values[line]);
  const message = objectOf(value["message"]);
  const at = timeOf(value["timestamp"]);
  if (value["type"] === "user") {
    const by = value["isMeta"] === true || value["isCompactSummary"] === true ? "runtime" : "person";
    entries.push(...claudeInput(message["content"], left, { at, by }));
    return;
  }
  const items = blocksIn(contentOf(file, line));
  if (items.length === 0) return;
  const id = stringOf(message["id"]) ?? `line ${line}`;
  const model = textIn(message, "model");
  const before = answers.get(id);
  const answer: AnswerEntry = {
    kind: "answer",
    dialect: "anthropic-messages",
    items: [...(before?.items ?? []), ...items],
    provider: "anthropic",
    model: model === "<synthetic>" ? undefined : model,
    ...(message["stop_reason"] === "max_tokens" ? { status: "incomplete" } : {}),
    at,
  };
  answers.set(id, { at: before?.at ?? entries.length, items: answer.items });
  if (before === undefined) entries.push(answer);
  else entries[before.at] = answer;
}

/** The paths between compactions, oldest first. */
function segmentsOf(file: RecordFile, talk: readonly number[]): readonly (readonly number[])[] {
  const { values } = file;
  if (!values.some((value) => stringOf(value?.["uuid"]) !== undefined)) return [talk];
  const byId = new Map(values.map((value, line) => [stringOf(value?.[LINKS.id]), line]));
  const seen = new Set<number>();
  const segments: (readonly number[])[] = [];
  let at = talk.at(-1);
  while (at !== undefined) {
    const path: number[] = [];
    let first = at;
    for (let next: number | undefined = at; next !== undefined && !seen.has(next);) {
      seen.add(next);
      path.push(next);
      first = next;
      next = byId.get(stringOf(values[next]?.[LINKS.parent]) ?? "");
    }
    segments.unshift(withNeighbours(file, talk, path, seen));
    const before = stringOf(values[first]?.["logicalParentUuid"]);
    const found = before === undefined ? undefined : byId.get(before);
    at = found === undefined || seen.has(found) ? undefined : found;
  }
  return segments.filter((lines) => lines.length > 0);
}

/** Other lines of the same answers, and results of parallel calls, may be off the path. */
function withNeighbours(
  file: RecordFile,
  talk: readonly number[],
  path: readonly number[],
  seen: Set<number>,
): readonly number[] {
  const own = new Set(path);
  const idOf = (line: number): string | undefined => stringOf(objectOf(file.values[line]?.["message"])["id"]);
  const answers = new Set(path.map(idOf).filter((id) => id !== undefined));
  for (const line of talk) if (!seen.has(line) && answers.has(idOf(line) ?? "")) own.add(line);
  const calls = new Set([...own].flatMap((line) => idsIn(file, line, "id")));
  for (const line of talk)
    if (!seen.has(line) && idsIn(file, line, "tool_use_id").some((id) => calls.has(id))) own.add(line);
  for (const line of own) seen.add(line);
  return talk.filter((line) => own.has(line));
}

function idsIn(file: RecordFile, line: number, field: string): readonly string[] {
  return sliceArray(contentOf(file, line)).flatMap((block) => textMember(block, field) ?? []);
}
