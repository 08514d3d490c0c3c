/** The axes of the inspector's plots: labels are round, few and never touch. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { stepLabels, tickWords, valueTicks, widthOf } from "../../src/interface/web/inspector/axis.ts";
import { columnsOf, type StepFigures } from "../../src/interface/web/inspector/step-figures.ts";

const LEFT = 36;

/** The middle of a step's column, as the plot draws it. */
function middles(steps: number, width: number): (step: number) => number {
  const { columns, size } = columnsOf(Array.from({ length: steps }, () => FIGURES));
  const slot = (width - LEFT) / columns.length;
  return (step) => LEFT + slot * (Math.floor((step - 1) / size) + 0.5);
}

const FIGURES: StepFigures = { tokens: [1, 1, 1, 1], seconds: [1, 1, 1] };

describe("the labels under the columns", () => {
  test("never touch, are at most seven, and have the first and the last step, for any number of steps and any width", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 160, max: 1200 }), (steps, width) => {
        const labels = stepLabels(steps, middles(steps, width));
        expect(labels.length).toBeLessThanOrEqual(7);
        expect(labels.at(0)?.step).toBe(1);
        expect(labels.at(-1)?.step).toBe(steps);
        for (const [at, label] of labels.entries()) {
          const next = labels[at + 1];
          if (next === undefined) continue;
          expect(label.x + widthOf(label) / 2).toBeLessThan(next.x - widthOf(next) / 2);
          expect(next.step).toBeGreaterThan(label.step);
        }
      }),
    );
  });

  test("between the first and the last are multiples of one, two or five times a power of ten", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 5000 }), fc.integer({ min: 160, max: 1200 }), (steps, width) => {
        const between = stepLabels(steps, middles(steps, width)).slice(1, -1);
        const [first, second] = between;
        if (first === undefined || second === undefined) return;
        const every = second.step - first.step;
        expect(String(every)).toMatch(/^[125]0*$/);
        expect(between.every(({ step }) => step % every === 0)).toBe(true);
      }),
    );
  });

  test("name every step of a short session", () => {
    expect(stepLabels(5, middles(5, 440)).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
    expect(stepLabels(1, middles(1, 440)).map(({ step }) => step)).toEqual([1]);
    expect(stepLabels(0, middles(1, 440))).toEqual([]);
    expect(stepLabels(23, middles(23, 440)).map(({ step }) => step)).toEqual([1, 5, 10, 15, 20, 23]);
  });
});

describe("the lines beside the columns", () => {
  test("are two to five, evenly apart, reach above the highest value, and have different words", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e8, noNaN: true }), (highest) => {
        const ticks = valueTicks(highest);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(5);
        expect(ticks.at(-1) ?? 0).toBeGreaterThanOrEqual(highest * (1 - 1e-6));
        const words = ticks.map(tickWords);
        expect(new Set(words).size).toBe(words.length);
        expect(Math.max(...words.map((one) => one.length))).toBeLessThanOrEqual(6);
      }),
    );
  });

  test("are round", () => {
    expect(valueTicks(4900).map(tickWords)).toEqual(["0", "2k", "4k", "6k"]);
    expect(valueTicks(23.1).map(tickWords)).toEqual(["0", "10", "20", "30"]);
    expect(valueTicks(0.15).map(tickWords)).toEqual(["0", "0.05", "0.1", "0.15"]);
    expect(valueTicks(0)).toEqual([0, 1]);
  });
});

describe("the columns", () => {
  test("are one for each step up to sixty, and then the means of 2, 5, 10 … steps", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4000 }), (steps) => {
        const { columns, size } = columnsOf(Array.from({ length: steps }, () => FIGURES));
        expect(columns.length).toBeLessThanOrEqual(60);
        expect(size === 1).toBe(steps <= 60);
        expect(String(size)).toMatch(/^[125]0*$/);
        expect(columns.map(({ first }) => first)).toEqual(columns.map((_, at) => at * size + 1));
        expect(columns.at(-1)?.last).toBe(steps);
        expect(columns.every(({ tokens }) => tokens.every((value) => value === 1))).toBe(true);
      }),
    );
  });
});
