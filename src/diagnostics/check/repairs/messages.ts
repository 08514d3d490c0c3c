/** Remedies for Anthropic histories. */

import { isObject, sliceMember, tryParseJson } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import {
  misplacedBlock,
  orphanResult,
  renamedPair,
  renamedTool,
  resultsFirst,
  secondResult,
  unanswered,
} from "./messages-pairs.ts";
import { allThinking, expected, trailingThinking, unthought } from "./messages-thinking.ts";
import {
  type Aim,
  drop,
  dropped,
  type Remedies,
  type Repair,
  type Repairer,
  setField,
  setHead,
  spotOf,
  strip,
} from "./repair.ts";
import { toolRenamed } from "./tool-names.ts";

const THINKING_OFF = '{"type":"disabled"}';

export const MESSAGES_REMEDIES: Remedies = {
  M01: trailingThinking,
  M02: ({ rule }, history, aim) => expected(rule, history, aim),
  M03: unthought,
  M04: unthought,
  M05: unthought,
  M06: ({ rule, index }, history) => allThinking(rule, history, index),
  M07: unanswered,
  M08: resultsFirst,
  M09: orphanResult,
  M10: added("Continue.", 'added a user message: "Continue."', true),
  M11: renamedTool,
  M12: renamedPair,
  M13: secondResult,
  M14: dropped("an empty text"),
  M15: ({ rule, index }) => [drop(rule, { index }, "an empty message")],
  M16: begun,
  M17({ rule, index }, history) {
    // Instructions are not left out: they are the only part of a history that may forbid something.
    return lookupOf(history).outline(index).role === "developer"
      ? [setField(rule, { index }, "role", '"system"', "changed the role developer to system")]
      : [drop(rule, { index }, "a message of an unknown role")];
  },
  M18: misplacedBlock,
  M19: soundLimits,
  M20: ({ rule }) => [setHead(rule, "tool_choice", '{"type":"auto"}', "removed the forced tool")],
  M21: extraCached,
  M22: withoutField,
  M23: ({ rule, index, part = 0 }, history) => wholeInput(rule, history, index, part),
  M24: dropped("half of a call that the provider ran"),
  M25({ rule, index, part = 0 }, history) {
    const block = blocksAt(history, index)[part] ?? "";
    const named = { name: textMember(block, "name") ?? "", callId: textMember(block, "id") };
    return toolRenamed(rule, history, { index, part }, named);
  },
};

/** Adds a user message at the beginning or the end. */
function added(text: string, what: string, atEnd: boolean): Repairer {
  return ({ rule }, { pieces }) => [
    { rule, edit: { do: "add", before: atEnd ? pieces.length : 0, role: "user", text }, what },
  ];
}

const beginAdded = added(
  "(The beginning of this conversation was cut off.)",
  "added a user message that says that the beginning is missing",
  false,
);

/** Without words of ours, the conversation begins at its first message of the user, if it has one. */
function begun(found: Violation, history: History, aim: Aim): readonly Repair[] {
  if (!aim.historyOnly) return beginAdded(found, history, aim);
  const lookup = lookupOf(history);
  const first = history.pieces.findIndex(
    ({ text }, index) =>
      lookup.outline(index).role === "user" &&
      (sliceMember(text, "content")?.startsWith('"') === true || !lookup.blocks(index).every(isResult)),
  );
  return Array.from({ length: Math.max(first, 0) }, (_, index) =>
    drop(found.rule, { index }, "what comes before the first message of the user"),
  );
}

function isResult(block: string): boolean {
  return textMember(block, "type") === "tool_result";
}

function soundLimits({ rule, message }: Violation, { head = "" }: History): readonly Repair[] {
  if (message.startsWith("thinking."))
    return [setHead(rule, "thinking", THINKING_OFF, "switched thinking off")];
  const budget = Number(sliceMember(sliceMember(head, "thinking") ?? "", "budget_tokens") ?? 0);
  const tokens = String((Number.isFinite(budget) ? budget : 0) + 4096);
  return [setHead(rule, "max_tokens", tokens, "gave max_tokens a value")];
}

export function blocksAt(history: History, index: number): readonly string[] {
  return lookupOf(history).blocks(index);
}

/** The name is what the message says between the place and the complaint; it may contain dots. */
function withoutField(found: Violation, history: History): readonly Repair[] {
  const { rule, index, part, message } = found;
  const type = part === undefined ? "" : (textMember(blocksAt(history, index)[part] ?? "", "type") ?? "");
  const place = part === undefined ? `messages.${index}.` : `messages.${index}.content.${part}.${type}.`;
  const field = message.slice(place.length).replace(/: Extra inputs are not permitted$/, "");
  return [strip(rule, spotOf(found), field, `the field ${field}`)];
}

/** Arguments stored as text are parsed, and missing ones are none. Any other value was cut off. */
function wholeInput(rule: string, history: History, index: number, part: number): readonly Repair[] {
  const input = sliceMember(blocksAt(history, index)[part] ?? "", "input") ?? "null";
  const text = input.startsWith('"') ? (JSON.parse(input) as string) : "";
  if (isObject(tryParseJson(text)))
    return [setField(rule, { index, part }, "input", text.trim(), "turned the arguments into an object")];
  if (input === "null" || input === '""')
    return [setField(rule, { index, part }, "input", "{}", "added empty arguments")];
  return [drop(rule, { index, part }, "a call with incomplete arguments")];
}

/** From the front, as many as are too many. */
function extraCached({ rule, message }: Violation, history: History): readonly Repair[] {
  const cached = history.pieces.flatMap((_, index) =>
    blocksAt(history, index).flatMap((block, part) =>
      sliceMember(block, "cache_control")?.startsWith("{") === true ? [{ index, part }] : [],
    ),
  );
  const [, most = "4", found = "5"] = /maximum of (\d+) .* Found (\d+)/.exec(message) ?? [];
  const what = "removed cache_control from the earliest block";
  return cached
    .slice(0, Number(found) - Number(most))
    .map((at) => ({ ...strip(rule, at, "cache_control"), what }));
}
