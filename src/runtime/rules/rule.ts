/**
 * A rule: one thing an API refuses, checked piece by piece (an input item, a message). All rules have the same shape,
 * and each has its own number (docs/replay-rules.md). Requests grow at the end, so a run keeps its state and `end` must
 * not change it.
 */

/** A problem found by a rule. */
export interface Problem {
  /** The index of the piece in `input` or `messages`; -1 means the head of the request. */
  readonly index: number;
  /** The index inside the piece: a content block, a call. */
  readonly part?: number;
  /** The API's error message, as far as it is known. */
  readonly message: string;
}

export interface Violation extends Problem {
  readonly rule: string;
}

/** Returns the problem with this piece, or, with an index, with an earlier piece that this one shows to be wrong. */
export type Look<View> = (piece: View) => string | Problem | readonly Problem[] | undefined;

export interface RuleRun<View> {
  readonly item?: Look<View>;
  /** Returns what is wrong or still missing if the request ends here. */
  readonly end?: () => readonly Problem[];
}

interface RuleText {
  readonly id: string;
  readonly title: string;
  /** The failures.md entries that support the rule. */
  readonly evidence: string;
  readonly todo: string;
  /** Whether the rule looks at pieces of this type. Without it, it looks at all. */
  readonly about?: (type: string) => boolean;
}

/** A rule that needs only the piece itself has no run. */
export type Rule<View, Facts> = RuleText &
  ({ readonly item: Look<View> } | { readonly start: (facts: Facts) => RuleRun<View> });

/** The index of a problem in the head of a request: its parameters, system prompt or tools. */
export const HEAD = -1;
