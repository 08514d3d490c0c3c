/** Tokens and times per step, and the columns that a plot draws of them. Pure. */

import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { roundUp } from "./axis.ts";
import { toolTime } from "./turn-trace.ts";

export interface StepFigures {
  readonly tokens: readonly [cached: number, fresh: number, reasoning: number, answer: number];
  /** In seconds. */
  readonly seconds: readonly [thinking: number, tools: number, answer: number];
}

/** Returns the figures of the steps that have ended. All attempts of a step count: each was paid for and waited for. */
export function stepFigures(requests: readonly RequestFacts[]): readonly StepFigures[] {
  const steps: { readonly key: string; figures: StepFigures }[] = [];
  for (const request of requests) {
    const figures = figuresOf(request);
    if (figures === undefined) continue;
    const key = `${request.start.turn ?? ""} ${request.start.step}`;
    const last = steps.at(-1);
    if (last?.key === key) last.figures = sumOf([last.figures, figures]);
    else steps.push({ key, figures });
  }
  return steps.map(({ figures }) => figures);
}

function figuresOf({ end, thinkingMs, tools }: RequestFacts): StepFigures | undefined {
  if (end === undefined) return undefined;
  const { inputTokens = 0, cachedTokens = 0, outputTokens = 0, reasoningTokens = 0 } = end.usage ?? {};
  const thinking = Math.min(thinkingMs, end.durationMs);
  const ran = tools.reduce((sum, tool) => sum + (toolTime(tool) ?? 0), 0);
  return {
    tokens: [
      cachedTokens,
      Math.max(0, inputTokens - cachedTokens),
      reasoningTokens,
      Math.max(0, outputTokens - reasoningTokens),
    ],
    seconds: [thinking / 1000, ran / 1000, (end.durationMs - thinking) / 1000],
  };
}

/** Some steps as one column: the mean of each figure. */
export interface Column extends StepFigures {
  readonly first: number;
  readonly last: number;
}

const MOST_COLUMNS = 60;

/** One column for each step or, of more than 60 steps, for each 2, 5, 10 … of them. */
export function columnsOf(steps: readonly StepFigures[]): {
  readonly columns: readonly Column[];
  readonly size: number;
} {
  const size = steps.length <= MOST_COLUMNS ? 1 : roundUp(steps.length / MOST_COLUMNS);
  const columns: Column[] = [];
  for (let at = 0; at < steps.length; at += size) {
    const some = steps.slice(at, at + size);
    columns.push({ first: at + 1, last: at + some.length, ...dividedBy(sumOf(some), some.length) });
  }
  return { columns, size };
}

function sumOf(steps: readonly StepFigures[]): StepFigures {
  const tokens: [number, number, number, number] = [0, 0, 0, 0];
  const seconds: [number, number, number] = [0, 0, 0];
  for (const step of steps) {
    for (const [at, value] of step.tokens.entries()) tokens[at] = (tokens[at] ?? 0) + value;
    for (const [at, value] of step.seconds.entries()) seconds[at] = (seconds[at] ?? 0) + value;
  }
  return { tokens, seconds };
}

function dividedBy({ tokens, seconds }: StepFigures, count: number): StepFigures {
  const [cached, fresh, reasoning, said] = tokens;
  const [thinking, tools, answer] = seconds;
  return {
    tokens: [cached / count, fresh / count, reasoning / count, said / count],
    seconds: [thinking / count, tools / count, answer / count],
  };
}
