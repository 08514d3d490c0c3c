import { expect, test } from "vitest";

import { plot, shortly } from "./plot.ts";

const day = (index: number): string => new Date(Date.UTC(2026, 10, 1 + index)).toISOString().slice(0, 10);

test("bars have an axis with a unit and round labels; a day without work is a gap", () => {
  const points = [
    { day: day(0), value: 500 },
    { day: day(1), value: 1000 },
    { day: day(3), value: 1 },
  ];
  expect(plot(points, { unit: "tokens", width: 80 })).toBe(
    [
      "tokens per day (UTC)",
      " 1k ┤ █",
      "    │ █",
      "    │ █",
      "500 ┤██",
      "    │██",
      "    │██ ▁",
      "  0 └────",
      "     11-01…11-04",
    ].join("\n"),
  );
});

test("no values give a plain message", () => {
  expect(plot([], { unit: "tokens", width: 80 })).toBe("tokens per day: none yet");
  expect(plot([{ day: day(0), value: 0 }], { unit: "tokens", width: 80 })).toBe("tokens per day: none yet");
});

test("days are grouped if there are more than columns, and the total stays the same", () => {
  const text = plot(
    Array.from({ length: 50 }, (_, index) => ({ day: day(index), value: 10 })),
    { unit: "tokens", width: 80 },
  );
  expect(text).toContain("tokens per 3 days (UTC)");
  const axis = text.split("\n").find((line) => line.includes("└")) ?? "";
  expect(axis.match(/─/g)).toHaveLength(17);
});

test("no line is wider than the terminal, from 20 columns on", () => {
  for (const width of [20, 24, 40, 80]) {
    for (const days of [1, 2, 5, 19, 20, 21, 400]) {
      const points = Array.from({ length: days }, (_, index) => ({
        day: day(index),
        value: index * 99_999 + 1,
      }));
      const lines = plot(points, { unit: "tokens", width }).split("\n").slice(1);
      expect([width, days, lines.filter((line) => line.length > width)]).toEqual([width, days, []]);
    }
  }
});

test("figures are shortened", () => {
  expect([0, 999, 1000, 1234, 1_000_000, 2_500_000_000].map(shortly)).toEqual([
    "0",
    "999",
    "1k",
    "1.2k",
    "1M",
    "2.5G",
  ]);
});

test("days that a wrong clock put thousands of years apart are adjacent, without millions of gaps", () => {
  const points = [
    { day: "0000-01-01", value: 1 },
    { day: day(0), value: 2 },
    { day: "9999-12-31", value: 4 },
  ];
  const drawn = plot(points, { unit: "tokens", width: 80 });
  expect(drawn.split("\n").slice(0, 1)).toEqual(["tokens per day (UTC)"]);
  expect(drawn).toMatch(/└───$/m);
});
