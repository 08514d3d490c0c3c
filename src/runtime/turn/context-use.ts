/**
 * How full the model's context is, according to its last response: figures for every interface, and a notice when usage
 * crosses a threshold.
 */

import type { ContextUse, EventDraft, Usage } from "../../base/events/index.ts";
import type { Entry, Fold, Group } from "../fold/index.ts";

/** From this share on, the user gets a notice. */
const NOTICE_AT = 0.7;
/** From this share on, the front is compacted before the next turn. */
export const COMPACT_AT = 0.85;

/** Undefined until a response has reported its tokens, and after a cut until the next one has. */
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
 * Whether the response counted the context as it is now. A count from before a cut says nothing about what is left. Nor
 * does a sum over several passes of a server that ran its own tools, if it exceeds any context.
 */
function isCounted(entry: Entry, cut: number, contextTokens = Number.POSITIVE_INFINITY): entry is Group {
  if (entry.kind !== "group" || entry.start.seq <= cut) return false;
  const usage = entry.end?.usage;
  if (usage === undefined || usage.inputTokens <= 0) return false;
  return heldBy(usage) <= contextTokens || !entry.items.some(({ type }) => type === "hosted_item");
}

/** The last counted responses, newest first. Searches from the end, so a step costs the same in a long session. */
function lastCounted(fold: Fold, count: number, contextTokens: number | undefined): readonly Group[] {
  const cut = fold.compaction?.seq ?? -1;
  const found: Group[] = [];
  for (let index = fold.entries.length - 1; index >= 0 && found.length < count; index -= 1) {
    const entry = fold.entries[index] as Entry;
    if (isCounted(entry, cut, contextTokens)) found.push(entry);
  }
  return found;
}

/** Whether the context is so full that the front should be compacted. False if a cut was just made and did not help. */
export function isFull(fold: Fold, contextTokens: number | undefined, at: number): boolean {
  const fraction = contextUse(fold, contextTokens)?.fraction ?? 0;
  if (fraction < at) return false;
  if (fold.compaction === undefined) return true;
  const cut = fold.compaction.seq;
  const first = fold.entries.find((entry): entry is Group => isCounted(entry, cut, contextTokens));
  return first?.end?.usage !== undefined && (useOf(first.end.usage, contextTokens).fraction ?? 0) < at;
}

/** Returns a notice once per upward crossing of the threshold. */
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
      : `Earlier turns are summarised at ${Math.round(compactAt * 100)} %`;
  return [
    {
      type: "notice",
      turn,
      code: "context_pressure",
      message: `${percent} % of the model's context is used (${now.usedTokens} of ${contextTokens ?? 0} tokens). ${next}`,
    },
  ];
}
