/**
 * Runs a dialect's rules over a request that grows at its end. Each piece is checked once, so a step costs only what is
 * new.
 */

import type { ItemOutline } from "./openai-responses/index.ts";
import type { Look, Problem, Rule, RuleRun, Violation } from "./rule.ts";

/** Known facts about a piece besides its text. Foreign histories provide none of them. */
export interface PieceContext {
  /** The response it came from. */
  readonly group?: string | undefined;
  /** Made by another origin than the one the request goes to. */
  readonly foreign?: boolean;
  /** Run by the provider: the output of such a call comes from there, or there is none. */
  readonly hosted?: boolean;
  /** The piece's server repeats ids within one response (I13). */
  readonly idsRepeat?: boolean | undefined;
  /**
   * The number of reasoning pieces in its response. The API may refuse a partial omission where it accepts a full one.
   */
  readonly reasoningMade?: number;
  /** On a prefix-bound target, whether the content before it differs from what it was made after (C04). */
  readonly prefixChanged?: boolean;
}

/** Checks one request, piece by piece. */
export interface RequestCheck {
  /**
   * Adds the next element of `input` or `messages`, as the exact text that is sent. A renderer that has looked at an
   * input item passes its outline, so that the text is not cut again.
   */
  push(text: string, context?: PieceContext, outline?: ItemOutline): void;
  /** Returns the problems of the request as it stands. */
  violations(): readonly Violation[];
}

export type ViewOf<View> = (
  text: string,
  index: number,
  context: PieceContext,
  outline?: ItemOutline,
) => View;

interface RuleLook<View> {
  readonly id: string;
  readonly look: Look<View>;
  readonly about: ((type: string) => boolean) | undefined;
}

export class RuleSet<View, Facts> implements RequestCheck {
  readonly #runs: readonly { readonly id: string; readonly run: RuleRun<View> }[];
  /** Those that look at pieces one by one. */
  readonly #looks: readonly RuleLook<View>[];
  /** The same by the type of the piece: of most rules, most pieces are none of their business. */
  readonly #looksAt = new Map<string | undefined, readonly RuleLook<View>[]>();
  readonly #view: ViewOf<View>;
  readonly #typeOf: (piece: View) => string | undefined;
  readonly #found: Violation[] = [];
  #count = 0;

  constructor(
    rules: readonly Rule<View, Facts>[],
    facts: Facts,
    view: ViewOf<View>,
    typeOf: (piece: View) => string | undefined = () => undefined,
  ) {
    this.#runs = rules.map((rule) => ({ id: rule.id, run: "item" in rule ? rule : rule.start(facts) }));
    this.#looks = this.#runs.flatMap(({ id, run }, index) =>
      run.item === undefined ? [] : [{ id, look: run.item, about: rules[index]?.about }],
    );
    this.#view = view;
    this.#typeOf = typeOf;
  }

  push(text: string, context: PieceContext = {}, outline?: ItemOutline): void {
    const index = this.#count;
    this.#count += 1;
    const piece = this.#view(text, index, context, outline);
    const type = this.#typeOf(piece);
    for (const one of this.#looksAt.get(type) ?? this.#chosenFor(type)) {
      const found = one.look(piece);
      if (found === undefined) continue;
      for (const problem of listOf(found, index)) this.#found.push({ rule: one.id, ...problem });
    }
  }

  #chosenFor(type: string | undefined): readonly RuleLook<View>[] {
    const chosen = this.#looks.filter(({ about }) => type === undefined || about?.(type) !== false);
    this.#looksAt.set(type, chosen);
    return chosen;
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
