/** What random answers of every dialect share. */

import fc from "fast-check";

export interface AnswerSpec {
  /** Where the stream breaks off, as a share of its events. */
  readonly cut: number | undefined;
  /** Whether an unfinished other answer comes first. */
  readonly splice: boolean;
}

/** Most answers arrive whole, because one that breaks off ends its turn. */
export const HOW_IT_ARRIVES = {
  cut: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  ),
  splice: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
} satisfies Record<keyof AnswerSpec, unknown>;

export interface Built {
  readonly events: readonly string[];
  /** The payloads that must go home, by the laws, if the answer arrived whole. */
  readonly payloads: readonly string[];
}

export const TOOL_NAMES = [
  "get_weather",
  "get_weather",
  "get_weather",
  "unknown_tool",
  "functions.get_weather",
  "multi_tool_use.parallel",
  "get_weather<|channel|>commentary",
  "get weather",
  "w".repeat(200),
  "погода",
  "",
];

/** The state of one session: its ids, and the results owed from one answer to the next. */
export class Maker {
  #count = 0;
  owed: { readonly id: string; readonly type: string }[] = [];

  next(): number {
    this.#count += 1;
    return this.#count;
  }
}

/** The events as they arrive: possibly after the beginning of another answer, possibly cut. */
export function arriving(
  spec: AnswerSpec,
  build: () => Built,
): { readonly events: readonly string[]; readonly payloads: readonly string[] } {
  const dead = spec.splice ? build().events : [];
  const { events, payloads } = build();
  const whole = [...dead.slice(0, Math.floor(dead.length / 2)), ...events];
  if (spec.cut === undefined) return { events: whole, payloads };
  return { events: whole.slice(0, Math.floor(spec.cut * whole.length)), payloads: [] };
}
