/**
 * Remedies for Anthropic histories.
 *
 * @module
 */

import { isObject, sliceMember, tryParseJson } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import { drop, mappedCallId, type Repair, type Repairer } from "./repair.ts";

export const repairMessages: Repairer = (violation, history) => {
  const { rule, index, part } = violation;
  const at = part === undefined ? { index } : { index, part };
  switch (rule) {
    case "M01":
      return trailingThinking(rule, history, index);
    case "M02":
      return [
        {
          rule,
          edit: { do: "head", field: "thinking", value: '{"type":"disabled"}' },
          what: "switched thinking off until this turn ends",
        },
      ];
    case "M03":
    case "M04":
    case "M05":
    case "M06":
      return allThinking(rule, history, index);
    case "M07":
      return unanswered(violation, history);
    case "M08":
      return [{ rule, edit: { do: "move", at, behind: index }, what: "moved the result to the front" }];
    case "M09":
      return [drop(rule, at, "a result without its call")];
    case "M10":
      return [
        {
          rule,
          edit: { do: "add", before: history.pieces.length, role: "user", text: "Continue." },
          what: 'added a user message: "Continue."',
        },
      ];
    case "M11":
      return renamed(rule, history, idAt(history, index, part) ?? "");
    case "M12":
      return renamedPair(rule, history, index, part ?? 0);
    case "M13":
      return [drop(rule, at, "a second result of a call")];
    case "M14":
      return [drop(rule, at, "an empty text")];
    case "M15":
      return [drop(rule, { index }, "an empty message")];
    case "M16":
      return [
        {
          rule,
          edit: {
            do: "add",
            before: 0,
            role: "user",
            text: "(The beginning of this conversation was cut off.)",
          },
          what: "added a user message that says that the beginning is missing",
        },
      ];
    case "M17":
      return [drop(rule, { index }, "a message of an unknown role")];
    case "M18":
      return [drop(rule, at, "a block of the wrong role")];
    case "M23":
      return wholeInput(rule, history, index, part ?? 0);
    default:
      return headOrField(violation, history);
  }
};

function headOrField({ rule, index, part, message }: Violation, history: History): readonly Repair[] {
  const set = (field: string, value: string, what: string): Repair => ({
    rule,
    edit: { do: "head", field, value },
    what,
  });
  if (rule === "M20") return [set("tool_choice", '{"type":"auto"}', "no tool is forced any more")];
  if (rule === "M19") {
    if (message.startsWith("thinking."))
      return [set("thinking", '{"type":"disabled"}', "switched thinking off")];
    const budget = Number(
      sliceMember(sliceMember(history.head ?? "", "thinking") ?? "", "budget_tokens") ?? 0,
    );
    return [
      set("max_tokens", String((Number.isFinite(budget) ? budget : 0) + 4096), "gave max_tokens a value"),
    ];
  }
  if (rule === "M21") return extraCached(rule, history);
  if (rule !== "M22") return [];
  const field = /\.([^.]+): Extra inputs/.exec(message)?.[1] ?? "";
  const at = part === undefined ? { index } : { index, part };
  return [{ rule, edit: { do: "strip", at, field }, what: `removed ${field}`, lost: `the field ${field}` }];
}

export function blocksAt(history: History, index: number): readonly string[] {
  return lookupOf(history).blocks(index);
}

const isThinking = (block: string): boolean => (textMember(block, "type") ?? "").endsWith("thinking");

/** Nothing may be said behind the last thought, so the thoughts behind the last words go. */
function trailingThinking(rule: string, history: History, index: number): readonly Repair[] {
  const blocks = blocksAt(history, index);
  const last = blocks.findLastIndex((block) => !isThinking(block));
  return blocks.flatMap((_, part) => (part > last ? [drop(rule, { index, part }, "thinking")] : []));
}

/** All of a message or none: what is left of a changed thought is refused too (C01). */
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
    return [
      { rule, edit: { do: "close", at: { index, part } }, what: "closed the call with a constant result" },
    ];
  });
}

function idAt(history: History, index: number, part: number | undefined): string | undefined {
  const block = blocksAt(history, index)[part ?? 0] ?? "";
  return textMember(block, "id") ?? textMember(block, "tool_use_id");
}

function renamed(rule: string, history: History, id: string): readonly Repair[] {
  const { calls, results } = lookupOf(history).ids(id);
  return [...calls, ...results].map((at): Repair => {
    const edit = { do: "rename", at, callId: mappedCallId(id) } as const;
    return { rule, edit, what: "mapped the tool id" };
  });
}

/** An id that was used again: this call and its result, in the next message, get another. Within one message: a copy. */
function renamedPair(rule: string, history: History, index: number, part: number): readonly Repair[] {
  const blocks = blocksAt(history, index);
  const id = textMember(blocks[part] ?? "", "id") ?? "";
  if (blocks.slice(0, part).some((block) => textMember(block, "id") === id))
    return [drop(rule, { index, part }, "the second copy of a call")];
  const callId = mappedCallId(id, String(index));
  return [
    { rule, edit: { do: "rename", at: { index, part }, callId }, what: "mapped the tool id" },
    ...blocksAt(history, index + 1).flatMap((block, at): readonly Repair[] =>
      textMember(block, "tool_use_id") === id
        ? [
            {
              rule,
              edit: { do: "rename", at: { index: index + 1, part: at }, callId },
              what: "mapped the tool id",
            },
          ]
        : [],
    ),
  ];
}

/** Arguments that were kept as text are the same arguments; anything else was cut off. */
function wholeInput(rule: string, history: History, index: number, part: number): readonly Repair[] {
  const block = blocksAt(history, index)[part] ?? "";
  const text = textMember(block, "input") ?? "";
  if (isObject(tryParseJson(text))) {
    const edit = { do: "set", at: { index, part }, field: "input", value: text.trim() } as const;
    return [{ rule, edit, what: "put the arguments in as an object" }];
  }
  return [drop(rule, { index, part }, "a call whose arguments are not whole")];
}

function extraCached(rule: string, history: History): readonly Repair[] {
  const cached = history.pieces.flatMap((_, index) =>
    blocksAt(history, index).flatMap((block, part) =>
      sliceMember(block, "cache_control")?.startsWith("{") === true ? [{ index, part }] : [],
    ),
  );
  return cached.slice(0, 1).map((at) => ({
    rule,
    edit: { do: "strip", at, field: "cache_control" },
    what: "removed cache_control from the earliest block",
  }));
}
