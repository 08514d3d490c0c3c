/**
 * Repairs of Claude's thinking. All thoughts of a message are left out or none: the API also refuses the rest of a changed
 * answer (C01). If the answer that the API goes on from loses its thoughts, thinking is switched off: the API expects
 * them while it is on (C02).
 */

import { sliceMember } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { lookupOf } from "./lookup.ts";
import { type Aim, drop, type Repair } from "./repair.ts";
import { thinkingOff } from "./thinking-off.ts";

const UNTIL_IT_ENDS = "switched thinking off until this turn ends";

function blocksAt(history: History, index: number): readonly string[] {
  return lookupOf(history).blocks(index);
}

const isThinking = (block: string): boolean => (textMember(block, "type") ?? "").endsWith("thinking");

export function allThinking(rule: string, history: History, index: number): readonly Repair[] {
  return blocksAt(history, index).flatMap((block, part) =>
    isThinking(block) ? [drop(rule, { index, part }, "thinking")] : [],
  );
}

/** The thoughts of a message, and thinking with them if the API goes on from that message. */
export function unthought(
  { rule, index }: Pick<Violation, "rule" | "index">,
  history: History,
  aim: Aim,
): readonly Repair[] {
  const thoughts = allThinking(rule, history, index);
  const goesOn = index === latestAnswer(history) && isOpen(history, index) && isOn(history);
  return thoughts.length > 0 && goesOn ? [...thoughts, ...expected(rule, history, aim)] : thoughts;
}

export function expected(rule: string, history: History, aim: Aim): readonly Repair[] {
  return thinkingOff(rule, history, aim, UNTIL_IT_ENDS);
}

/** A message must not end with thoughts. Older answers may lose some of their thoughts, the latest all or none. */
export function trailingThinking(found: Violation, history: History, aim: Aim): readonly Repair[] {
  const { rule, index } = found;
  const blocks = blocksAt(history, index);
  const last = blocks.findLastIndex((block) => !isThinking(block));
  if (index === latestAnswer(history) && blocks.slice(0, last + 1).some(isThinking))
    return unthought(found, history, aim);
  return blocks.flatMap((_, part) => (part > last ? [drop(rule, { index, part }, "thinking")] : []));
}

/** The answers since the last message that has no results: a tool loop is one turn (C13). */
export function openTurn(history: History): readonly number[] {
  const answers: number[] = [];
  for (let index = history.pieces.length - 1; index >= 0; index -= 1) {
    const { role } = lookupOf(history).outline(index);
    if (role === "assistant") answers.unshift(index);
    else if (role === "user" && !blocksAt(history, index).some(isResult)) break;
  }
  return answers;
}

function latestAnswer(history: History): number {
  return history.pieces.findLastIndex((_, index) => lookupOf(history).outline(index).role === "assistant");
}

/** Whether only results follow: the API goes on from this answer. */
function isOpen(history: History, index: number): boolean {
  return history.pieces.every(
    (_, at) => at <= index || (blocksAt(history, at).length > 0 && blocksAt(history, at).every(isResult)),
  );
}

function isResult(block: string): boolean {
  return textMember(block, "type") === "tool_result";
}

/** Whether the request asks for thinking. What a model does without being asked is unknown here. */
function isOn({ head = "" }: History): boolean {
  const type = textMember(sliceMember(head, "thinking") ?? "", "type");
  return type === "enabled" || type === "adaptive";
}
