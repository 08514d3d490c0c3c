/** The one-line labels of blocks, the same in every interface. */

import type { ReasoningBlock, TurnEndBlock } from "./block.ts";
import { formatDuration } from "./duration.ts";
import { workedMs } from "./waits.ts";

/** Returns the label of a collapsed reasoning block: its current title, or how long the model thought. */
export function reasoningLabel(block: ReasoningBlock): string {
  if (block.generating) return block.parts.findLast(({ title }) => title !== undefined)?.title ?? "Thinking…";
  const time = block.durationMs === undefined ? "Thought" : `Thought for ${formatDuration(block.durationMs)}`;
  const facts = [
    block.cut ? "interrupted" : undefined,
    block.parts.length === 0
      ? "no summary from the provider"
      : block.parts.length > 1
        ? `${block.parts.length} parts`
        : undefined,
    block.tokens === undefined || block.tokens === 0 ? undefined : `${block.tokens} tokens`,
  ];
  return [time, ...facts.filter((fact) => fact !== undefined)].join(" · ");
}

/** Returns what follows the title of a thought in progress: "14s · part 3". `elapsedMs` is the viewer's own time. */
export function liveThoughtFacts(block: ReasoningBlock, elapsedMs: number): string {
  const facts = [
    elapsedMs < 1000 ? undefined : formatDuration(elapsedMs),
    block.parts.length > 1 ? `part ${block.parts.length}` : undefined,
  ];
  return facts.filter((fact) => fact !== undefined).join(" · ");
}

/** "Worked for 41s": without the waits for a person. */
export function workedLabel(block: TurnEndBlock): string {
  return `Worked for ${formatDuration(workedMs(block))}`;
}

/** "waited 42s, not counted". */
export function waitedLabel(ms: number): string {
  return `waited ${formatDuration(ms)}, not counted`;
}

/** The label of a folded attempt that a later one replaced. */
export const SUPERSEDED_LABEL = "An earlier attempt was cut off and retried";
