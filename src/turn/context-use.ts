/**
 * How full the model's context is, by what its last response counted. Told before it hurts: a notice when a share is
 * crossed, the figures for every interface.
 *
 * @module
 */

import type { ContextUse, EventDraft, Usage } from "../events/index.ts";
import type { Fold, Group } from "../fold/index.ts";

/** From here on a person is told. */
export const NOTICE_AT = 0.7;
/** From here on the front is compacted before the next turn. */
export const COMPACT_AT = 0.85;

/** Undefined before the first response that counted its tokens, and after a cut until there is another. */
export function contextUse(fold: Fold, contextTokens: number | undefined): ContextUse | undefined {
  const last = countedGroups(fold).at(-1);
  return last?.end?.usage === undefined ? undefined : useOf(last.end.usage, contextTokens);
}

function useOf(usage: Usage, contextTokens: number | undefined): ContextUse {
  const usedTokens = usage.inputTokens + usage.outputTokens;
  if (contextTokens === undefined) return { usedTokens };
  return { usedTokens, contextTokens, fraction: usedTokens / contextTokens };
}

/** Those that counted the context as it is now: what was counted before a cut says nothing about what is left. */
function countedGroups(fold: Fold): readonly Group[] {
  const cut = fold.compaction?.seq ?? -1;
  return fold.entries.filter(
    (entry): entry is Group =>
      entry.kind === "group" && entry.start.seq > cut && (entry.end?.usage?.inputTokens ?? 0) > 0,
  );
}

/** Whether the context is so full that the front should go; not when a cut has just been made and did not help. */
export function isFull(fold: Fold, contextTokens: number | undefined, at: number): boolean {
  const fraction = contextUse(fold, contextTokens)?.fraction ?? 0;
  if (fraction < at) return false;
  if (fold.compaction === undefined) return true;
  const [first] = countedGroups(fold);
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
  const [before, now] = [undefined, ...countedGroups(fold)]
    .slice(-2)
    .map((group) => (group?.end?.usage === undefined ? undefined : useOf(group.end.usage, contextTokens)));
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
