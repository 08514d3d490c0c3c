/**
 * A rule: one thing the API refuses, checked item by item. Every rule has the same shape and a number of its own
 * (docs/replay-rules.md). Requests grow at the end, so a run keeps its state and `end` only looks.
 *
 * @module
 */

import type { ItemView } from "./item-view.ts";

export interface Violation {
  readonly rule: string;
  /** Index in `input`. */
  readonly index: number;
  /** What the API would answer, as far as it is known. */
  readonly message: string;
}

export interface Problem {
  readonly index: number;
  readonly message: string;
}

export interface RuleRun {
  /** What is wrong, with this item or, when an index is given, with an earlier one that this one shows to be wrong. */
  item(item: ItemView): string | Problem | undefined;
  /** What is still missing if the input ends here. */
  end?(): readonly Problem[];
}

export interface Rule {
  readonly id: string;
  readonly title: string;
  /** The failures.md entries it rests on. */
  readonly evidence: string;
  readonly todo: string;
  start(): RuleRun;
}
