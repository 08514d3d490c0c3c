import { expect, test } from "vitest";

import { hexHash, shortHash } from "./short-hash.ts";

test("names are letters and digits of the length asked for, and stay the same", () => {
  expect(shortHash("ev_019a", 9)).toMatch(/^[a-z0-9]{9}$/);
  expect(shortHash("ev_019a", 9)).toBe(shortHash("ev_019a", 9));
  expect(shortHash("", 12)).toMatch(/^[a-z0-9]{12}$/);
});

test("100,000 neighbouring names do not meet", () => {
  const names = new Set(Array.from({ length: 100_000 }, (_, index) => shortHash(`ev_${index}`, 9)));
  expect(names.size).toBe(100_000);
});

test("hexadecimal digits come in any number, and differ beyond the first eight", () => {
  expect(hexHash("a line", 8)).toMatch(/^[0-9a-f]{8}$/);
  const long = hexHash("a line", 32);
  expect(long).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(long.match(/.{8}/g)).size).toBe(4);
});
