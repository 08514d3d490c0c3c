/** Repairs of Claude's calls and results. A real result is moved to its call; only a lost one is replaced. */

import type { Violation } from "../../../runtime/rules/index.ts";
import type { History, Spot } from "../history.ts";
import { textMember } from "../json-text.ts";
import { earlyResult, isBefore, lookupOf, resultOf } from "./lookup.ts";
import {
  closeCall,
  drop,
  mappedCallId,
  moveBehind,
  rename,
  renamedOnce,
  type Repair,
  spotOf,
} from "./repair.ts";

const MOVED = "moved the result behind its call";
const MAPPED = "mapped the tool id";

const typeOf = (block: string): string => textMember(block, "type") ?? "";
const idOf = (block: string): string => textMember(block, "id") ?? textMember(block, "tool_use_id") ?? "";

/** Whether the message after the call has a result of that id. */
function isAnswered(history: History, { index }: Spot, id: string): boolean {
  const lookup = lookupOf(history);
  return (
    lookup.outline(index + 1).role === "user" &&
    lookup.blocks(index + 1).some((block) => typeOf(block) === "tool_result" && idOf(block) === id)
  );
}

/** The result of a call that is somewhere else than behind it. */
function strayResult(history: History, call: Spot, id: string): Spot | undefined {
  if (!history.moves || id === "" || isAnswered(history, call, id)) return undefined;
  const spots = lookupOf(history).ids(id);
  const early = earlyResult(spots);
  if (early !== undefined) return isSame(early.call, call) ? early.result : undefined;
  return resultOf(spots, call);
}

function isSame(one: Spot, other: Spot): boolean {
  return !isBefore(one, other) && !isBefore(other, one);
}

export function unanswered({ rule, index }: Violation, history: History): readonly Repair[] {
  return lookupOf(history)
    .blocks(index)
    .flatMap((block, part): readonly Repair[] => {
      const id = idOf(block);
      if (typeOf(block) !== "tool_use" || isAnswered(history, { index }, id)) return [];
      const stray = strayResult(history, { index, part }, id);
      return [stray === undefined ? closeCall(rule, { index, part }) : moveBehind(rule, stray, index, MOVED)];
    });
}

/** Also for a result in a message of the wrong role. */
export function orphanResult(found: Violation, history: History): readonly Repair[] {
  const at = spotOf(found);
  const id = idOf(lookupOf(history).blocks(found.index)[found.part ?? 0] ?? "");
  const { calls } = lookupOf(history).ids(id);
  const call = calls.findLast((one) => isBefore(one, at)) ?? calls[0];
  const stray = call === undefined ? undefined : strayResult(history, call, id);
  return call !== undefined && stray !== undefined && isSame(stray, at)
    ? [moveBehind(found.rule, at, call.index, MOVED)]
    : [drop(found.rule, at, "a result without its call")];
}

export function misplacedBlock(found: Violation, history: History): readonly Repair[] {
  const block = lookupOf(history).blocks(found.index)[found.part ?? 0] ?? "";
  if (typeOf(block) === "tool_result") return orphanResult(found, history);
  return [drop(found.rule, spotOf(found), "a block of the wrong role")];
}

/** All late results of the message at once: the rule names the first. */
export function resultsFirst({ rule, index }: Violation, history: History): readonly Repair[] {
  const blocks = lookupOf(history).blocks(index);
  const other = blocks.findIndex((block) => typeOf(block) !== "tool_result");
  return blocks.flatMap((block, part) =>
    part > other && typeOf(block) === "tool_result"
      ? [moveBehind(rule, { index, part }, index - 1, "moved the result to the front")]
      : [],
  );
}

/** Missing ids are matched by their order, message by message. */
export function renamedTool({ rule, index, part = 0 }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const id = idOf(lookup.blocks(index)[part] ?? "");
  const { calls, results } = lookup.ids(id);
  const mapped = (spots: readonly Spot[], behind: number): readonly Repair[] => {
    let [message, nth] = [-1, 0];
    return spots.map((at) => {
      [message, nth] = at.index === message ? [message, nth + 1] : [at.index, 0];
      return rename(rule, at, mappedCallId(id, id === "" ? `${message - behind}.${nth}` : ""), MAPPED);
    });
  };
  return renamedOnce(history, id, () => [...mapped(calls, 0), ...mapped(results, 1)]);
}

/** A repeated id: this call and its result in the next message get a new one. A copy of the call is left out. */
export function renamedPair({ rule, index, part = 0 }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const blocks = lookup.blocks(index);
  const id = idOf(blocks[part] ?? "");
  // An id that cannot be sent is mapped first.
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) return [];
  const alike = callsOf(blocks, id).filter((at) => at < part);
  if (alike.some((at) => blocks[at] === blocks[part]))
    return [drop(rule, { index, part }, "the second copy of a call")];
  const answers = resultsOf(lookup.blocks(index + 1), id);
  const own =
    alike.length === 0 && callsOf(blocks, id).length === 1
      ? answers
      : answers.slice(alike.length, alike.length + 1);
  const callId = mappedCallId(id, alike.length === 0 ? String(index) : `${index}.${alike.length}`);
  return [{ index, part }, ...own.map((at) => ({ index: index + 1, part: at }))].map((at) =>
    rename(rule, at, callId, MAPPED),
  );
}

/** Calls of one message that have the same id are told apart first, and so are their results. */
export function secondResult(found: Violation, history: History): readonly Repair[] {
  const { rule, index, part = 0 } = found;
  const lookup = lookupOf(history);
  const id = idOf(lookup.blocks(index)[part] ?? "");
  const calls = lookup.blocks(index - 1);
  const nth = resultsOf(lookup.blocks(index), id).indexOf(part);
  const different = new Set(callsOf(calls, id).map((at) => calls[at]));
  return nth < different.size ? [] : [drop(rule, spotOf(found), "a second result of a call")];
}

function callsOf(blocks: readonly string[], id: string): readonly number[] {
  return blocks.flatMap((block, at) => (typeOf(block) === "tool_use" && idOf(block) === id ? [at] : []));
}

function resultsOf(blocks: readonly string[], id: string): readonly number[] {
  return blocks.flatMap((block, at) => (typeOf(block) === "tool_result" && idOf(block) === id ? [at] : []));
}
