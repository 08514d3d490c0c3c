/** Remedies for Anthropic histories. */

import { isObject, sliceMember, tryParseJson } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import {
  closeCall,
  drop,
  dropped,
  mappedCallId,
  moveBehind,
  type Remedies,
  rename,
  type Repair,
  type Repairer,
  setField,
  setHead,
  spotOf,
  strip,
} from "./repair.ts";
import { toolRenamed } from "./tool-names.ts";

const unthought: Repairer = ({ rule, index }, history) => allThinking(rule, history, index);
const THINKING_OFF = '{"type":"disabled"}';

/** Adds a user message at the beginning or the end. */
function added(text: string, what: string, atEnd: boolean): Repairer {
  return ({ rule }, { pieces }) => [
    { rule, edit: { do: "add", before: atEnd ? pieces.length : 0, role: "user", text }, what },
  ];
}

export const MESSAGES_REMEDIES: Remedies = {
  M01: ({ rule, index }, history) => trailingThinking(rule, history, index),
  M02: ({ rule }) => [setHead(rule, "thinking", THINKING_OFF, "switched thinking off until this turn ends")],
  M03: unthought,
  M04: unthought,
  M05: unthought,
  M06: unthought,
  M07: unanswered,
  M08: (found) => [moveBehind(found.rule, spotOf(found), found.index, "moved the result to the front")],
  M09: dropped("a result without its call"),
  M10: added("Continue.", 'added a user message: "Continue."', true),
  M11: ({ rule, index, part }, history) => renamed(rule, history, idAt(history, index, part) ?? ""),
  M12: ({ rule, index, part = 0 }, history) => renamedPair(rule, history, index, part),
  M13: dropped("a second result of a call"),
  M14: dropped("an empty text"),
  M15: ({ rule, index }) => [drop(rule, { index }, "an empty message")],
  M16: added(
    "(The beginning of this conversation was cut off.)",
    "added a user message that says that the beginning is missing",
    false,
  ),
  M17: ({ rule, index }) => [drop(rule, { index }, "a message of an unknown role")],
  M18: dropped("a block of the wrong role"),
  M19: soundLimits,
  M20: ({ rule }) => [setHead(rule, "tool_choice", '{"type":"auto"}', "removed the forced tool")],
  M21: ({ rule }, history) => extraCached(rule, history),
  M22(found) {
    const field = /\.([^.]+): Extra inputs/.exec(found.message)?.[1] ?? "";
    return [strip(found.rule, spotOf(found), field, `the field ${field}`)];
  },
  M23: ({ rule, index, part = 0 }, history) => wholeInput(rule, history, index, part),
  M24: dropped("half of a call that the provider ran"),
  M25({ rule, index, part = 0 }, history) {
    const block = blocksAt(history, index)[part] ?? "";
    const named = { name: textMember(block, "name") ?? "", callId: textMember(block, "id") };
    return toolRenamed(rule, history, { index, part }, named);
  },
};

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

const isThinking = (block: string): boolean => (textMember(block, "type") ?? "").endsWith("thinking");

/** A message must not end with thoughts, so the thoughts after its last text are removed. */
function trailingThinking(rule: string, history: History, index: number): readonly Repair[] {
  const blocks = blocksAt(history, index);
  const last = blocks.findLastIndex((block) => !isThinking(block));
  return blocks.flatMap((_, part) => (part > last ? [drop(rule, { index, part }, "thinking")] : []));
}

/** All thoughts of a message are removed or none: the API also refuses the rest of a changed thought (C01). */
export function allThinking(rule: string, history: History, index: number): readonly Repair[] {
  return blocksAt(history, index).flatMap((block, part) =>
    isThinking(block) ? [drop(rule, { index, part }, "thinking")] : [],
  );
}

function unanswered({ rule, index }: Violation, history: History): readonly Repair[] {
  const next = blocksAt(history, index + 1);
  const results = new Set(next.map((block) => textMember(block, "tool_use_id")));
  return blocksAt(history, index).flatMap((block, part): readonly Repair[] => {
    if (textMember(block, "type") !== "tool_use" || results.has(textMember(block, "id"))) return [];
    return [closeCall(rule, { index, part })];
  });
}

function idAt(history: History, index: number, part: number | undefined): string | undefined {
  const block = blocksAt(history, index)[part ?? 0] ?? "";
  return textMember(block, "id") ?? textMember(block, "tool_use_id");
}

function renamed(rule: string, history: History, id: string): readonly Repair[] {
  const { calls, results } = lookupOf(history).ids(id);
  return [...calls, ...results].map((at) => rename(rule, at, mappedCallId(id), "mapped the tool id"));
}

/** A repeated id: this call and its result in the next message get a new one. Within one message, the call is a copy. */
function renamedPair(rule: string, history: History, index: number, part: number): readonly Repair[] {
  const blocks = blocksAt(history, index);
  const id = textMember(blocks[part] ?? "", "id") ?? "";
  if (blocks.slice(0, part).some((block) => textMember(block, "id") === id))
    return [drop(rule, { index, part }, "the second copy of a call")];
  const callId = mappedCallId(id, String(index));
  const results = blocksAt(history, index + 1).flatMap((block, at) =>
    textMember(block, "tool_use_id") === id ? [{ index: index + 1, part: at }] : [],
  );
  return [{ index, part }, ...results].map((at) => rename(rule, at, callId, "mapped the tool id"));
}

/** Arguments stored as text are parsed. Any other value was cut off. */
function wholeInput(rule: string, history: History, index: number, part: number): readonly Repair[] {
  const block = blocksAt(history, index)[part] ?? "";
  const text = textMember(block, "input") ?? "";
  if (isObject(tryParseJson(text)))
    return [setField(rule, { index, part }, "input", text.trim(), "turned the arguments into an object")];
  return [drop(rule, { index, part }, "a call with incomplete arguments")];
}

function extraCached(rule: string, history: History): readonly Repair[] {
  const cached = history.pieces.flatMap((_, index) =>
    blocksAt(history, index).flatMap((block, part) =>
      sliceMember(block, "cache_control")?.startsWith("{") === true ? [{ index, part }] : [],
    ),
  );
  const what = "removed cache_control from the earliest block";
  return cached.slice(0, 1).map((at) => ({ ...strip(rule, at, "cache_control"), what }));
}
