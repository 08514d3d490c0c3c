/**
 * Decides which violations a repair mends if it is asked for certain rules: those of these rules, and those that its own
 * edits cause. A violation that was there before is recognised by its rule and by the text of what breaks it, so that
 * edits elsewhere may shift it.
 */

import { didYouMean, type OptionCheck, sliceArray, sliceMember } from "../../base/support/index.ts";
import {
  CHAT_RULES,
  HEAD,
  MESSAGES_RULES,
  RESPONSES_RULES,
  type Violation,
} from "../../runtime/rules/index.ts";
import type { Edit, History, HistoryDialect } from "./history.ts";
import { withoutMember } from "./json-text.ts";

const IDS: readonly string[] = [...RESPONSES_RULES, ...MESSAGES_RULES, ...CHAT_RULES].map(({ id }) => id);

/** The check of one entry of the option `rules`. */
export const aRule: OptionCheck = (value) => {
  if (typeof value !== "string") return "the number of a rule";
  return IDS.includes(value) ? undefined : `the number of a rule, such as "R06"${didYouMean(value, IDS)}`;
};

export class ChosenRules {
  readonly #rules: ReadonlySet<string> | undefined;
  readonly #before: Set<string>;

  /** `found` are the violations before the first edit. Without `rules`, every violation is chosen. */
  constructor(rules: readonly string[] | undefined, found: readonly Violation[], history: History) {
    this.#rules = rules && new Set(rules);
    this.#before = new Set(found.map((one) => keyOf(one, history)));
  }

  includes(violation: Violation, history: History): boolean {
    if (this.#rules === undefined || this.#rules.has(violation.rule)) return true;
    return !this.#before.has(keyOf(violation, history));
  }

  /**
   * Remembers violations whose piece is about to change: the edit did not cause them. `after` opens the history with
   * edits applied; those that change a piece in its place do not shift others.
   */
  carry(
    history: History,
    found: () => readonly Violation[],
    edits: readonly Edit[],
    after: (edits: readonly Edit[]) => History,
  ): void {
    const inPlace = edits.filter((edit) => IN_PLACE.has(edit.do));
    if (this.#rules === undefined || inPlace.length === 0) return;
    const left = found().filter((one) => !this.includes(one, history));
    const changed = left.length === 0 ? history : after(inPlace);
    if (changed.pieces.length !== history.pieces.length) return;
    for (const one of left) this.#before.add(keyOf(one, changed));
  }
}

/** Edits that change a piece in its place. */
export const IN_PLACE: ReadonlySet<Edit["do"]> = new Set(["strip", "set", "rename", "name"]);

/** The member that holds the parts of a piece. */
const PARTS: Readonly<Record<HistoryDialect, string>> = {
  "openai-responses": "",
  "anthropic-messages": "content",
  "openai-chat": "tool_calls",
};

/** Parts have their own violations, so a piece is recognised without them. */
function keyOf({ rule, index, part }: Violation, { pieces, dialect }: History): string {
  if (index === HEAD) return rule;
  const text = pieces[index]?.text ?? "";
  const name = PARTS[dialect];
  if (part === undefined) return `${rule} ${withoutMember(text, name)}`;
  const parts = sliceMember(text, name) ?? "";
  return `${rule} ${parts.startsWith("[") ? sliceArray(parts)[part] : parts}`;
}
