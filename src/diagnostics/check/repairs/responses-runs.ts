/**
 * Repairs of Responses items that depend on the other items of their response: thoughts, item ids and copies. An item
 * without its id is accepted where the thought before it has one, but not the reverse (failures.md, laws 1 and 2).
 */

import { isObject, tryParseJson } from "../../../base/support/index.ts";
import { isCallType, isOutputType } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { keptByServer } from "../server-state.ts";
import { type Lookup, lookupOf } from "./lookup.ts";
import { drop, type Repair, strip } from "./repair.ts";

/** Whether the item can be sent without its id. */
function isPlain(type: string): boolean {
  return type === "message" || isCallType(type) || isOutputType(type);
}

/** A group that cannot be sent whole loses its ids, and so its reasoning and provider tool items (law 2). */
export function loosen(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const run = history.pieces[index]?.run;
  return (run === undefined ? [index] : lookup.run(run)).flatMap((at): readonly Repair[] => {
    const { type } = lookup.outline(at);
    if (type === "reasoning") return [drop(rule, { index: at }, "reasoning")];
    // It stands for everything before it, and its payload does not depend on the rest of its response.
    if (type === "compaction" && at !== index) return [];
    return isPlain(type) ? withoutId(rule, lookup, at) : withPartner(rule, history, at);
  });
}

function withoutId(rule: string, lookup: Lookup, index: number): readonly Repair[] {
  if (lookup.outline(index).id === undefined) return [];
  return [{ ...strip(rule, { index }, "id"), what: "removed the item id" }];
}

/** A provider tool item needs its id. The screenshot of a computer call is of no use without the call. */
function withPartner(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const { type, callId } = lookup.outline(index);
  const partner = history.pieces.findIndex((_, at) => {
    const other = lookup.outline(at);
    return other.type === `${type}_output` && other.callId === callId;
  });
  const alone = [drop(rule, { index }, `${type}, which needs its id`)];
  if (callId === undefined || partner === -1) return alone;
  return [...alone, drop(rule, { index: partner }, "an output without its call")];
}

/** Strips the ids of every response that has no reasoning: they refer to reasoning that is not there. */
export function idsWithoutReasoning(rule: string, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  return history.pieces.flatMap(({ run }, index): readonly Repair[] =>
    run === undefined && lookup.made(index) && isPlain(lookup.outline(index).type)
      ? withoutId(rule, lookup, index)
      : [],
  );
}

/**
 * Leaves out thoughts whose follower is missing. If no other thought of the response is left, its items are not where
 * they were: they lose their ids, on both sides of what separates them from the thought (P09, P10).
 */
export function orphanThought(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const isThought = (at: number): boolean => lookup.outline(at).type === "reasoning";
  let first = index;
  while (first > 0 && isThought(first - 1)) first -= 1;
  const thoughts = Array.from({ length: index - first + 1 }, (_, nth) => first + nth);
  const run = history.pieces[index]?.run;
  const others = (run === undefined ? [] : lookup.run(run)).filter((at) => !thoughts.includes(at));
  const before = others.some(isThought) ? [] : others;
  let next = index + 1;
  while (next < history.pieces.length && !lookup.made(next)) next += 1;
  const behind: number[] = [];
  for (let at = next; lookup.made(at) && history.pieces[at]?.run === undefined; at += 1) behind.push(at);
  return [
    ...thoughts.map((at) => drop(rule, { index: at }, "reasoning")),
    ...[...before, ...behind].flatMap((at) =>
      isPlain(lookup.outline(at).type) ? withoutId(rule, lookup, at) : [],
    ),
  ];
}

/** An id that cannot be sent. A thought and a provider tool item need theirs; a stored message does too (P06). */
export function invalidId(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const { type } = lookup.outline(index);
  const needed = type === "message" && keptByServer(history).items;
  return isPlain(type) && !needed ? withoutId(rule, lookup, index) : loosen(rule, history, index);
}

/** A copy is left out. Another item with the same id only loses the id, unless it needs one. */
export function repeatedId(rule: string, history: History, index: number): readonly Repair[] {
  const lookup = lookupOf(history);
  const { id, type } = lookup.outline(index);
  const first = lookup.item(id ?? "") ?? index;
  if (isPlain(type) && !isCopy(history, first, index)) return withoutId(rule, lookup, index);
  // Of two copies of a thought, the one without a follower is in the wrong place.
  const stray = type === "reasoning" && !lookup.made(first + 1) && lookup.made(index + 1);
  return [drop(rule, { index: stray ? first : index }, "the second copy of an item")];
}

function isCopy(history: History, one: number, other: number): boolean {
  const lookup = lookupOf(history);
  const [a, b] = [lookup.outline(one), lookup.outline(other)];
  if (a.type !== b.type) return false;
  if (isCallType(a.type) || isOutputType(a.type)) return a.callId === b.callId;
  return meaningAt(history, one) === meaningAt(history, other);
}

/** The item without its status, in one spelling. */
function meaningAt({ pieces }: History, index: number): string {
  const value = tryParseJson(pieces[index]?.text ?? "");
  if (!isObject(value)) return "";
  const members = Object.entries(value).filter(([key]) => key !== "status");
  return JSON.stringify(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
