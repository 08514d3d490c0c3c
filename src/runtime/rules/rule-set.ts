/**
 * Runs the rules of a dialect over a request that grows at the end: each piece is looked at once, so a step costs what is
 * new.
 */

import type { Member } from "../../base/support/index.ts";
import type { Problem, Rule, RuleRun, Violation } from "./rule.ts";

/** What is known of a piece beside its text. Foreign histories say nothing of it. */
export interface PieceContext {
  /** Which response it came from. */
  readonly group?: string | undefined;
  /** Made by another origin than the request goes to. */
  readonly foreign?: boolean;
  /** Run by the provider itself: a call among these has its output from there, or none. */
  readonly hosted?: boolean;
  /** Where it comes from, the ids of one response repeat (I13). */
  readonly idsRepeat?: boolean | undefined;
  /** How many pieces of reasoning its response made: leaving out some of them is refused where leaving out all is not. */
  readonly reasoningMade?: number;
  /** On a target that binds reasoning to what stands before it: that is not what it was made after (C04). */
  readonly prefixChanged?: boolean;
}

/** Checks one request, piece by piece. */
export interface RequestCheck {
  /** The next element of `input` or `messages`, as the exact text that is sent; its members, if it was cut up already. */
  push(text: string, context?: PieceContext, members?: readonly Member[]): void;
  /** What is wrong with the request as it stands. */
  violations(): readonly Violation[];
}

export type ViewOf<View> = (
  text: string,
  index: number,
  context: PieceContext,
  members?: readonly Member[],
) => View;

export class RuleSet<View, Facts> implements RequestCheck {
  readonly #runs: readonly { readonly id: string; readonly run: RuleRun<View> }[];
  readonly #view: ViewOf<View>;
  readonly #found: Violation[] = [];
  #count = 0;

  constructor(rules: readonly Rule<View, Facts>[], facts: Facts, view: ViewOf<View>) {
    this.#runs = rules.map((rule) => ({ id: rule.id, run: "item" in rule ? rule : rule.start(facts) }));
    this.#view = view;
  }

  push(text: string, context: PieceContext = {}, members?: readonly Member[]): void {
    const index = this.#count;
    this.#count += 1;
    const piece = this.#view(text, index, context, members);
    for (const { id, run } of this.#runs) {
      const found = run.item?.(piece);
      if (found === undefined) continue;
      for (const problem of listOf(found, index)) this.#found.push({ rule: id, ...problem });
    }
  }

  violations(): readonly Violation[] {
    const missing = this.#runs.flatMap(({ id, run }) =>
      (run.end?.() ?? []).map((problem) => ({ rule: id, ...problem })),
    );
    return missing.length === 0 ? this.#found : [...this.#found, ...missing];
  }
}

function listOf(found: string | Problem | readonly Problem[], index: number): readonly Problem[] {
  if (typeof found === "string") return [{ index, message: found }];
  return "message" in found ? [found] : found;
}
