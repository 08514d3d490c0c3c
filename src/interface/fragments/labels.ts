/** The one-line labels of a reasoning block, the same in every interface. */

import type { ReasoningBlock } from "./block.ts";
import { formatDuration } from "./duration.ts";

/** Returns the label of a collapsed reasoning block: its current title, or how long the model thought. */
export function reasoningLabel(block: ReasoningBlock): string {
  if (block.generating) return block.parts.findLast(({ title }) => title !== undefined)?.title ?? "Thinking…";
  const time = block.durationMs === undefined ? "Thought" : `Thought for ${formatDuration(block.durationMs)}`;
  const facts = [
    block.cut ? "interrupted" : undefined,
    block.parts.length === 0
      ? "no summary"
      : block.parts.length > 1
        ? `${block.parts.length} parts`
        : undefined,
    block.tokens === undefined || block.tokens === 0 ? undefined : `${block.tokens} tokens`,
    block.keptBack ? `kept for ${block.model}, not sent to the current model` : undefined,
  ];
  return [time, ...facts.filter((fact) => fact !== undefined)].join(" · ");
}
