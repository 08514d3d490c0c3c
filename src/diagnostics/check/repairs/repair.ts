/**
 * The remedy of a violation: an edit, and what it says to a person.
 *
 * @module
 */

import { shortHash } from "../../../base/support/index.ts";
import type { Violation } from "../../../runtime/rules/index.ts";
import type { Edit, History, Spot } from "../history.ts";

export interface Repair {
  readonly rule: string;
  readonly edit: Edit;
  /** What was done, in words. */
  readonly what: string;
  /** What is not in the history any more. */
  readonly lost?: string;
}

/** One per dialect: the smallest change that makes a rule hold again. */
export type Repairer = (violation: Violation, history: History) => readonly Repair[];

export function drop(rule: string, at: Spot, lost: string): Repair {
  return { rule, edit: { do: "drop", at }, what: `left out: ${lost}`, lost };
}

/** The same id for a call and its result, and the same in every run; call ids are no secret and bind nothing. */
export function mappedCallId(id: string, salt = ""): string {
  return `call_${shortHash(`${salt}\n${id}`, 12)}`;
}

/** Nine letters and digits: all that Mistral takes (code 3280). */
export function nineCharacterId(id: string): string {
  return shortHash(id, 9);
}
