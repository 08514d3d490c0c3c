/** The remedy of a violation: an edit and its description for the user. */

import { shortHash } from "../../../base/support/index.ts";
import type { ChatTraits, Violation } from "../../../runtime/rules/index.ts";
import type { Edit, History, Spot } from "../history.ts";

export interface Repair {
  readonly rule: string;
  readonly edit: Edit;
  /** What was done, for the user. */
  readonly what: string;
  /** What the history no longer contains. */
  readonly lost?: string | undefined;
  /** Switches thinking off: the one parameter that a repair of the history alone may change. */
  readonly thinkingOff?: true;
}

/** What a repair may change, and who reads the result. */
export interface Aim {
  /** Only the history: no parameter but thinking, and no message with words of ours. */
  readonly historyOnly: boolean;
  /** The name of the chat vendor, if the options or the model's name say it. */
  readonly vendor: string | undefined;
  readonly traits: ChatTraits;
}

/** Returns the smallest changes after which a rule holds again. */
export type Repairer = (violation: Violation, history: History, aim: Aim) => readonly Repair[];

/** The remedies of a dialect, by the number of the rule. A rule without a remedy cannot be repaired. */
export type Remedies = Readonly<Record<string, Repairer>>;

export function drop(rule: string, at: Spot, lost: string): Repair {
  return { rule, edit: { do: "drop", at }, what: `left out: ${lost}`, lost };
}

/** Removes the piece that the violation names, or the part if it names one. */
export function dropped(lost: string): Repairer {
  return (violation) => [drop(violation.rule, spotOf(violation), lost)];
}

export function strip(rule: string, at: Spot, field: string, lost?: string): Repair {
  return { rule, edit: { do: "strip", at, field }, what: `removed ${field}`, lost };
}

export function setField(rule: string, at: Spot, field: string, value: string, what: string): Repair {
  return { rule, edit: { do: "set", at, field, value }, what };
}

export function setHead(rule: string, field: string, value: string | undefined, what: string): Repair {
  return { rule, edit: { do: "head", field, value }, what };
}

export function closeCall(rule: string, at: Spot): Repair {
  return { rule, edit: { do: "close", at }, what: "closed the call with a constant result" };
}

export function rename(rule: string, at: Spot, callId: string, what = "mapped the call id"): Repair {
  return { rule, edit: { do: "rename", at, callId }, what };
}

/** Maps an id wherever it occurs, once for all violations of a history: a call and its result always change together. */
export function renamedOnce(history: History, id: string, spots: () => readonly Repair[]): readonly Repair[] {
  const done = RENAMED.get(history) ?? new Set();
  RENAMED.set(history, done);
  if (done.has(id)) return [];
  done.add(id);
  return spots();
}

const RENAMED = new WeakMap<History, Set<string>>();

export function moveBehind(rule: string, at: Spot, behind: number, what: string): Repair {
  return { rule, edit: { do: "move", at, behind }, what };
}

export function spotOf({ index, part }: Violation): Spot {
  return part === undefined ? { index } : { index, part };
}

/** Maps an id to the same new id for a call and its result, and in every run. Call ids are not secret and bind nothing. */
export function mappedCallId(id: string, salt = ""): string {
  return `call_${shortHash(`${salt}\n${id}`, 12)}`;
}

/** Nine letters and digits, the only form that Mistral accepts (code 3280). */
export function nineCharacterId(id: string): string {
  return shortHash(id, 9);
}
