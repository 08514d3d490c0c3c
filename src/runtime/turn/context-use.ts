/**
 * How full the model's context is, by what its last response counted. Told before it hurts: a notice when a share is
 * crossed, the figures for every interface.
 */

import type { ContextUse, EventDraft, Usage } from "../../base/events/index.ts";
import type { Entry, Fold, Group } from "../fold/index.ts";

/** From here on a person is told. */
export const NOTICE_AT = 0.7;
/** From here on the front is compacted before the next turn. */
export const COMPACT_AT = 0.85;

/** Undefined before the first response that counted its tokens, and after a cut until there is another. */
export function contextUse(fold: Fold, contextTokens: number | undefined): ContextUse | undefined {
  const [last] = lastCounted(fold, 1, contextTokens);
  return last?.end?.usage === undefined ? undefined : useOf(last.end.usage, contextTokens);
}

function heldBy(usage: Usage): number {
  return usage.contextTokens ?? usage.inputTokens + usage.outputTokens;
}

function useOf(usage: Usage, contextTokens: number | undefined): ContextUse {
  const usedTokens = heldBy(usage);
  if (contextTokens === undefined) return { usedTokens };
  return { usedTokens, contextTokens, fraction: usedTokens / contextTokens };
}

/**
 * It counted the context as it is now: what was counted before a cut says nothing about what is left, and neither does a
 * sum over the passes of a server that ran tools of its own, where it is more than any context holds.
 */
function isCounted(entry: Entry, cut: number, contextTokens = Number.POSITIVE_INFINITY): entry is Group {
  if (entry.kind !== "group" || entry.start.seq <= cut) return false;
  const usage = entry.end?.usage;
  if (usage === undefined || usage.inputTokens <= 0) return false;
  return heldBy(usage) <= contextTokens || !entry.items.some(({ type }) => type === "hosted_item");
}

/** The last ones, the last one first. Looked for from the end: a long session must not cost more with every step. */
function lastCounted(fold: Fold, count: number, contextTokens: number | undefined): readonly Group[] {
  const cut = fold.compaction?.seq ?? -1;
  const found: Group[] = [];
  for (let index = fold.entries.length - 1; index >= 0 && found.length < count; index -= 1) {
    const entry = fold.entries[index] as Entry;
    if (isCounted(entry, cut, contextTokens)) found.push(entry);
  }
  return found;
}

/** Whether the context is so full that the front should go; not when a cut has just been made and did not help. */
export function isFull(fold: Fold, contextTokens: number | undefined, at: number): boolean {
  const fraction = contextUse(fold, contextTokens)?.fraction ?? 0;
  if (fraction < at) return false;
  if (fold.compaction === undefined) return true;
  const cut = fold.compaction.seq;
  const first = fold.entries.find((entry): entry is Group => isCounted(entry, cut, contextTokens));
  return first?.end?.usage !== undefined && (useOf(first.end.usage, contextTokens).fraction ?? 0) < at;
}

/** Once per crossing, from below. */
export function pressureNotice(
  fold: Fold,
  facts: {
    readonly turn: string;
    readonly contextTokens: number | undefined;
    readonly compactAt: number | undefined;
  },
): readonly EventDraft[] {
  const { turn, contextTokens, compactAt } = facts;
  const [now, before] = lastCounted(fold, 2, contextTokens).map((group) =>
    group.end?.usage === undefined ? undefined : useOf(group.end.usage, contextTokens),
  );
  if (now?.fraction === undefined || now.fraction < NOTICE_AT || (before?.fraction ?? 0) >= NOTICE_AT)
    return [];
  const percent = Math.round(now.fraction * 100);
  const next =
    compactAt === undefined
      ? "Compact the session before it is full"
      : `Earlier turns are summarised from ${Math.round(compactAt * 100)} % on`;
  return [
    {
      type: "notice",
      turn,
      code: "context_pressure",
      message: `${percent} % of the model's context is used (${now.usedTokens} of ${contextTokens ?? 0} tokens). ${next}`,
    },
  ];
}
