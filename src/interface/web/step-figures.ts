/**
 * Figures per step, read from the events: tokens and times. Pure.
 *
 * @module
 */

import type { LoggedEvent } from "../../base/events/index.ts";

export interface StepFigures {
  readonly label: string;
  readonly tokens: {
    readonly fresh: number;
    readonly cached: number;
    readonly reasoning: number;
    readonly answer: number;
  };
  /** Milliseconds. */
  readonly time: { readonly thinking: number; readonly tools: number; readonly answer: number };
}

export function stepFigures(events: readonly LoggedEvent[]): readonly StepFigures[] {
  const thinking = new Map<string, number>();
  const tools = new Map<string, number>();
  for (const event of events) {
    if (event.type === "reasoning") add(thinking, event.response, event.durationMs);
    if (event.type === "tool_result") add(tools, event.response, event.durationMs ?? 0);
  }
  const steps: StepFigures[] = [];
  for (const event of events) {
    if (event.type !== "response_end") continue;
    const { inputTokens = 0, cachedTokens = 0, outputTokens = 0, reasoningTokens = 0 } = event.usage ?? {};
    const thought = Math.min(thinking.get(event.response) ?? 0, event.durationMs);
    steps.push({
      label: String(steps.length + 1),
      tokens: {
        fresh: Math.max(0, inputTokens - cachedTokens),
        cached: cachedTokens,
        reasoning: reasoningTokens,
        answer: Math.max(0, outputTokens - reasoningTokens),
      },
      time: { thinking: thought, tools: tools.get(event.response) ?? 0, answer: event.durationMs - thought },
    });
  }
  return steps;
}

function add(map: Map<string, number>, key: string, value: number): void {
  map.set(key, (map.get(key) ?? 0) + value);
}
