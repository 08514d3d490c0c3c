/** Repairs the history of somebody else's request: every violation of a class at once, by the smallest change. */

import type { Dialect } from "../../base/events/index.ts";
import { isThroughlineError } from "../../base/support/index.ts";
import { repairHistory } from "../../diagnostics/check/index.ts";
import { fromWire, toWire } from "../restore/index.ts";
import { rulesOf } from "./classes.ts";

export interface Wanted {
  readonly dialect: Dialect;
  /** Classes of refusals, or ALL. */
  readonly classes: ReadonlySet<string>;
  /** The provider's words, which name what rules cannot see. */
  readonly error?: string | undefined;
  /** Payloads to leave out. */
  readonly drops?: boolean | ((payload: string) => boolean) | undefined;
  readonly vendor?: string | undefined;
}

const FORMATS = {
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "openai-chat": "chat",
} as const;

/** What a repair made of a request: wire text, and what it did, in words. */
export interface Repaired {
  readonly text: string;
  readonly changes: readonly string[];
}

/** Undefined if there is nothing to change. */
export function repairRequest(text: string, wanted: Wanted): Repaired | undefined {
  const { dialect, classes, error, drops, vendor } = wanted;
  try {
    const { text: repaired, changes } = repairHistory(fromWire(text), {
      format: FORMATS[dialect],
      scope: "history",
      rules: rulesOf(classes, dialect),
      error,
      dropReasoning: drops,
      vendor,
    });
    const wire = toWire(repaired);
    if (wire === text) return undefined;
    return { text: wire, changes: [...new Set(changes.map(({ rule, what }) => `${rule}: ${what}`))] };
  } catch (problem) {
    if (isThroughlineError(problem)) return undefined; // not a history that can be read
    throw problem;
  }
}
