import { expect, test } from "vitest";

import { shortHash } from "./short-hash.ts";

test("names are letters and digits of the length asked for, and stay the same", () => {
  expect(shortHash("ev_019a", 9)).toMatch(/^[a-z0-9]{9}$/);
  expect(shortHash("ev_019a", 9)).toBe(shortHash("ev_019a", 9));
  expect(shortHash("", 12)).toMatch(/^[a-z0-9]{12}$/);
});

test("100,000 neighbouring names do not meet", () => {
  const names = new Set(Array.from({ length: 100_000 }, (_, index) => shortHash(`ev_${index}`, 9)));
  expect(names.size).toBe(100_000);
});
