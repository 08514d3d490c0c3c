import { expect, test } from "vitest";

import { inListOrder, isFound } from "./list-order.ts";

const NOW = Date.UTC(2026, 10, 17);
const YEAR = 365 * 86_400_000;

function idsOf(times: Readonly<Record<string, number>>, now: number, behind?: string): readonly string[] {
  const sessions = Object.entries(times).map(([id, modifiedAt]) => ({ id, modifiedAt }));
  const from = sessions.find(({ id }) => id === behind);
  return inListOrder(sessions, { behind: from }, now).map(({ id }) => id);
}

const TIMES = { old: NOW - YEAR, future: NOW + YEAR, skewed: NOW + 5000, later: NOW + 2 * YEAR };

test("sessions dated in the future come after those of the present", () => {
  expect(idsOf(TIMES, NOW)).toEqual(["skewed", "old", "later", "future"]);
});

test("the sessions after a given one are those the list shows after it, across present and future", () => {
  const all = idsOf(TIMES, NOW);
  for (const [index, id] of all.entries()) expect(idsOf(TIMES, NOW, id)).toEqual(all.slice(index + 1));
});

test("if the clock says 1970, the session written last is still the first", () => {
  expect(idsOf({ before: NOW, now: 5000 }, 6000)).toEqual(["now", "before"]);
});

test("sessions of the same time are ordered by id, even if a file has no time", () => {
  expect(idsOf({ b: NOW, c: NOW, a: NOW, B: NOW }, NOW)).toEqual(["B", "a", "b", "c"]);
  expect(idsOf({ b: Number.NaN, a: Number.NaN }, NOW)).toEqual(["a", "b"]);
});

test("a session without a summary is found by its id", () => {
  expect(isFound({ id: "s_Broken" }, "broken")).toBe(true);
  expect(isFound({ id: "s_Broken" }, "whole")).toBe(false);
});
