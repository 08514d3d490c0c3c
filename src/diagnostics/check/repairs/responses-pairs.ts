/** Repairs of Responses calls and outputs. A real output is moved to its call; only a lost one is replaced. */

import { isCallType, isOutputType, type Violation } from "../../../runtime/rules/index.ts";
import type { History } from "../history.ts";
import { keptByServer } from "../server-state.ts";
import { earlyResult, type Lookup, lookupOf, oncePerHistory, resultOf } from "./lookup.ts";
import {
  type Aim,
  closeCall,
  drop,
  mappedCallId,
  moveBehind,
  rename,
  renamedOnce,
  type Repair,
} from "./repair.ts";
import { loosen } from "./responses-runs.ts";

const MOVED = "moved the output behind its call";

export function closedOrMoved({ rule, index }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const { callId = "" } = lookup.outline(index);
  const early = history.moves ? earlyResult(lookup.ids(callId)) : undefined;
  if (early?.call.index === index) return [moveBehind(rule, early.result, index, MOVED)];
  return isAnsweredById(history, index) ? [] : [closeCall(rule, { index })];
}

/** In the official types, the output of a local shell call has the id of its call, and no call id. */
function isAnsweredById(history: History, index: number): boolean {
  const lookup = lookupOf(history);
  const call = lookup.outline(index);
  if (call.type !== "local_shell_call") return false;
  return history.pieces.some((_, at) => {
    const { type, id, callId } = lookup.outline(at);
    if (type !== "local_shell_call_output" || callId !== undefined || id === undefined) return false;
    return id === call.id || id === call.callId;
  });
}

/** A lost call leaves the response before it incomplete, so the rest of that response loses its ids (law 2). */
export function orphanOutput({ rule, index }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const spots = lookup.ids(lookup.outline(index).callId ?? "");
  const early = history.moves ? earlyResult(spots) : undefined;
  if (early?.result.index === index) return [moveBehind(rule, { index }, early.call.index, MOVED)];
  const known = [...spots.calls, ...spots.results].some((spot) => spot.index < index);
  let made = index - 1;
  while (made >= 0 && isOutputType(lookup.outline(made).type)) made -= 1;
  return [
    drop(rule, { index }, "an output without its call"),
    ...(!known && mayHaveLedToCall(lookup, history, made) ? loosen(rule, history, made) : []),
  ];
}

/** Whether a thought of this response may have been followed by the lost call: not if a message follows each. */
function mayHaveLedToCall(lookup: Lookup, { pieces }: History, index: number): boolean {
  const run = pieces[index]?.run;
  if (run === undefined) return false;
  return lookup.run(run).some((at) => {
    if (lookup.outline(at).type !== "reasoning") return false;
    const next = lookup.outline(at + 1);
    return next.type !== "reasoning" && !(next.type === "message" && next.role === "assistant");
  });
}

/** Moves later outputs back to the calls that this input interrupts, and closes calls that have none. */
export function outputsBack({ rule, index }: Violation, history: History, aim: Aim): readonly Repair[] {
  const lookup = lookupOf(history);
  const repairs: Repair[] = [];
  const seen = new Set<string>();
  const references = aim.historyOnly || keptByServer(history).items;
  // An earlier input reports the calls before it itself.
  for (let at = index - 1; at >= 0; at -= 1) {
    const { type, role, id = "", callId } = lookup.outline(at);
    if (type === "message" && role !== undefined && role !== "assistant") break;
    if (references && type === "item_reference" && !NOT_OUTPUT.test(id)) break;
    if (!isCallType(type) || callId === undefined || seen.has(callId)) continue;
    seen.add(callId);
    const result = resultOf(lookup.ids(callId), { index: at });
    if (result === undefined) repairs.unshift(...closedOrMoved({ rule, index: at, message: "" }, history));
    else if (result.index > index && history.moves) repairs.unshift(moveBehind(rule, result, at, MOVED));
  }
  return repairs;
}

/** References to other things than the output of a call. */
const NOT_OUTPUT = /^(?:rs|msg|fc|ctc)_/;

/** Empty ids are matched by their order in a batch. */
export function renamedCallId({ rule, index }: Violation, history: History): readonly Repair[] {
  const lookup = lookupOf(history);
  const { type, id, callId = "" } = lookup.outline(index);
  // In the official types, this output has the id of its call instead.
  if (type === "local_shell_call_output" && id !== undefined && callId === "") return [];
  const { calls, results } = lookup.ids(callId);
  // The output of a call that only the server has keeps the id that the server knows.
  if (calls.length < results.length && mayBeOnServer(history)) return [];
  return renamedOnce(history, callId, () =>
    [...calls, ...results].map((at) =>
      rename(rule, at, mappedCallId(callId, callId === "" ? batches(history).get(at.index) : "")),
    ),
  );
}

function mayBeOnServer(history: History): boolean {
  const lookup = lookupOf(history);
  return (
    keptByServer(history).front ||
    history.pieces.some((_, at) => lookup.outline(at).type === "item_reference")
  );
}

/** The batch and the number of each call and output without an id. A call behind an output begins a batch. */
const batches = oncePerHistory((history): ReadonlyMap<number, string> => {
  const lookup = lookupOf(history);
  const names = new Map<number, string>();
  let batch = 0;
  let [calls, outputs] = [0, 0];
  let answered = false;
  for (const index of history.pieces.keys()) {
    const { type, callId = "" } = lookup.outline(index);
    const isCall = isCallType(type);
    if (!isCall && !isOutputType(type)) continue;
    if (isCall && answered) [batch, calls, outputs] = [batch + 1, 0, 0];
    answered = !isCall;
    if (callId === "") names.set(index, `${batch}.${isCall ? calls++ : outputs++}`);
  }
  return names;
});
