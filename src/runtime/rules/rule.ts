/**
 * A rule: one thing an API refuses, checked piece by piece (an input item, a message). Every rule has the same shape and a
 * number of its own (docs/replay-rules.md). Requests grow at the end, so a run keeps its state and `end` only looks.
 */

/** What a rule finds. */
export interface Problem {
  /** Index of the piece: in `input`, in `messages`; -1 is the head of the request. */
  readonly index: number;
  /** Index inside the piece: a content block, a call. */
  readonly part?: number;
  /** What the API would answer, as far as it is known. */
  readonly message: string;
}

export interface Violation extends Problem {
  readonly rule: string;
}

/** What is wrong, with this piece or, when an index is given, with an earlier one that this one shows to be wrong. */
type Look<View> = (piece: View) => string | Problem | readonly Problem[] | undefined;

export interface RuleRun<View> {
  readonly item?: Look<View>;
  /** What is wrong or still missing if the request ends here. */
  readonly end?: () => readonly Problem[];
}

interface RuleText {
  readonly id: string;
  readonly title: string;
  /** The failures.md entries it rests on. */
  readonly evidence: string;
  readonly todo: string;
}

/** A rule that looks at nothing but the piece needs no run of its own. */
export type Rule<View, Facts> = RuleText &
  ({ readonly item: Look<View> } | { readonly start: (facts: Facts) => RuleRun<View> });

/** Index of a problem that is in the head of a request: its parameters, system, tools. */
export const HEAD = -1;
