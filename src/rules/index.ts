/**
 * What the APIs accept, one file per numbered rule. Used on every request before it is sent, and on histories by
 * `check`. Pure.
 *
 * @module
 */

import { assistantTextIsOutputText } from "./assistant-text-is-output-text.ts";
import { callsHaveOutputs } from "./calls-have-outputs.ts";
import { idsAllOrNone } from "./ids-all-or-none.ts";
import type { ItemView } from "./item-view.ts";
import { noBareReasoning } from "./no-bare-reasoning.ts";
import { noDuplicateIds } from "./no-duplicate-ids.ts";
import { noForeignPayload } from "./no-foreign-payload.ts";
import { noServerState } from "./no-server-state.ts";
import { outputsArePresent } from "./outputs-are-present.ts";
import { outputsFollowCalls } from "./outputs-follow-calls.ts";
import { outputsHaveCalls } from "./outputs-have-calls.ts";
import { reasoningHasNoOutputFields } from "./reasoning-has-no-output-fields.ts";
import { reasoningHasSummary } from "./reasoning-has-summary.ts";
import { reasoningNeedsFollower } from "./reasoning-needs-follower.ts";
import { responsesAreContiguous } from "./responses-are-contiguous.ts";
import type { Rule, Violation } from "./rule.ts";
import { validCallIds } from "./valid-call-ids.ts";
import { validItemIds } from "./valid-item-ids.ts";

export { type ItemView, type ViewContext, viewItem } from "./item-view.ts";
export type { Rule, Violation } from "./rule.ts";

export const RESPONSES_RULES: readonly Rule[] = [
  reasoningNeedsFollower,
  idsAllOrNone,
  noBareReasoning,
  noDuplicateIds,
  validItemIds,
  callsHaveOutputs,
  outputsHaveCalls,
  outputsFollowCalls,
  validCallIds,
  reasoningHasSummary,
  reasoningHasNoOutputFields,
  assistantTextIsOutputText,
  outputsArePresent,
  noServerState,
  responsesAreContiguous,
  noForeignPayload,
];

/** Checks an input that grows at the end: each item is looked at once. */
export class RequestCheck {
  readonly #runs = RESPONSES_RULES.map((rule) => ({ rule, run: rule.start() }));
  readonly #found: Violation[] = [];

  push(item: ItemView): void {
    for (const { rule, run } of this.#runs) {
      const problem = run.item(item);
      if (typeof problem === "string")
        this.#found.push({ rule: rule.id, index: item.index, message: problem });
      else if (problem !== undefined) this.#found.push({ rule: rule.id, ...problem });
    }
  }

  /** What is wrong with the input as it stands. */
  violations(): readonly Violation[] {
    const missing = this.#runs.flatMap(({ rule, run }) =>
      (run.end?.() ?? []).map((problem) => ({ rule: rule.id, ...problem })),
    );
    return missing.length === 0 ? this.#found : [...this.#found, ...missing];
  }
}
