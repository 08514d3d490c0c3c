/** Repairs of chat calls and their answers. A real answer is moved to its call; only a lost one is replaced. */

import type { Violation } from "../../../runtime/rules/index.ts";
import type { History, Spot } from "../history.ts";
import { textMember } from "../json-text.ts";
import { earlyResult, isBefore, lookupOf, oncePerHistory, resultOf } from "./lookup.ts";
import {
  type Aim,
  closeCall,
  drop,
  mappedCallId,
  moveBehind,
  nineCharacterId,
  rename,
  renamedOnce,
  type Repair,
} from "./repair.ts";

const MOVED = "moved the tool message behind its call";

/** The index behind a message and the tool messages that directly follow it. */
function endOfAnswers(history: History, call: number): number {
  let end = call + 1;
  while (lookupOf(history).outline(end).role === "tool") end += 1;
  return end;
}

function answersOf(history: History, call: number, id: string): readonly number[] {
  const lookup = lookupOf(history);
  const end = endOfAnswers(history, call);
  return lookup.ids(id).results.flatMap(({ index }) => (index > call && index < end ? [index] : []));
}

/** The answer to a call that is somewhere else than behind it. */
function strayAnswer(history: History, call: Spot, id: string): Spot | undefined {
  if (!history.moves || id === "" || answersOf(history, call.index, id).length > 0) return undefined;
  const spots = lookupOf(history).ids(id);
  const early = earlyResult(spots);
  if (early === undefined) return resultOf(spots, call);
  return early.call.index === call.index && early.call.part === call.part ? early.result : undefined;
}

export function unanswered({ rule, index }: Violation, history: History, aim: Aim): readonly Repair[] {
  const lookup = lookupOf(history);
  // A closed call would need words of ours before the next message of the user (Mistral).
  const next = lookup.outline(endOfAnswers(history, index)).role;
  const closes = aim.traits.userAfterTool || !aim.historyOnly || next !== "user";
  return lookup.calls(index).flatMap((call, part): readonly Repair[] => {
    const id = textMember(call, "id") ?? "";
    if (answersOf(history, index, id).length > 0) return [];
    const stray = strayAnswer(history, { index, part }, id);
    if (stray !== undefined) return [moveBehind(rule, { index: stray.index }, index, MOVED)];
    return [
      closes ? closeCall(rule, { index, part }) : drop(rule, { index, part }, "a call without a result"),
    ];
  });
}

export function orphanAnswer({ rule, index }: Violation, history: History, aim: Aim): readonly Repair[] {
  const lookup = lookupOf(history);
  const id = lookup.outline(index).callId ?? "";
  const { calls } = lookup.ids(id);
  const call = calls.findLast((one) => isBefore(one, { index })) ?? calls[0];
  const alone = [drop(rule, { index }, "a tool message without its call")];
  if (call === undefined) return alone;
  if (strayAnswer(history, call, id)?.index === index)
    return [moveBehind(rule, { index }, call.index, MOVED)];
  // Calls of one message with the same id are told apart by their order.
  const nth = answersOf(history, call.index, id).indexOf(index);
  const twin = calls.filter((one) => one.index === call.index)[nth];
  if (nth < 1 || twin === undefined) return alone;
  const { nineCharacterCallIds, maxCallIdLength } = aim.traits;
  // An id that the vendor refuses is mapped first.
  if (nineCharacterCallIds === true ? !/^[a-zA-Z0-9]{9}$/.test(id) : id.length > maxCallIdLength) return [];
  const salted = `${id} ${call.index}.${nth}`;
  const callId = nineCharacterCallIds === true ? nineCharacterId(salted) : mappedCallId(salted);
  return [rename(rule, twin, callId), rename(rule, { index }, callId)];
}

/** Missing ids are matched by their order, message by message. */
export function renamedCallId(
  { rule, index, part, message }: Violation,
  history: History,
): readonly Repair[] {
  const lookup = lookupOf(history);
  const id =
    (part === undefined ? lookup.outline(index).callId : textMember(lookup.calls(index)[part] ?? "", "id")) ??
    "";
  const mapped = message.startsWith("Tool call id was") ? nineCharacterId : mappedCallId;
  const { calls, results } = lookup.ids(id);
  return renamedOnce(history, id, () =>
    [...calls, ...results].map((at) =>
      rename(rule, at, mapped(id || `#${nameless(history).get(`${at.index}.${at.part ?? ""}`) ?? ""}`)),
    ),
  );
}

/** The message and the number of each call without an id, and of each answer without one. */
const nameless = oncePerHistory((history): ReadonlyMap<string, string> => {
  const lookup = lookupOf(history);
  const names = new Map<string, string>();
  let caller = -1;
  let answers = 0;
  for (const index of history.pieces.keys()) {
    const calls = lookup.calls(index);
    if (calls.length > 0) [caller, answers] = [index, 0];
    const own = [...calls.keys()].filter((part) => !textMember(calls[part] ?? "", "id"));
    for (const [nth, part] of own.entries()) names.set(`${index}.${part}`, `${index}.${nth}`);
    const { role, callId = "" } = lookup.outline(index);
    if (role === "tool" && callId === "") names.set(`${index}.`, `${caller}.${answers++}`);
  }
  return names;
});
