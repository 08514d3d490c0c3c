import { expect, test } from "vitest";

import { hexHash, shortHash } from "./short-hash.ts";

test("names are letters and digits of the requested length, and stay the same", () => {
  expect(shortHash("ev_019a", 9)).toMatch(/^[a-z0-9]{9}$/);
  expect(shortHash("ev_019a", 9)).toBe(shortHash("ev_019a", 9));
  expect(shortHash("", 12)).toMatch(/^[a-z0-9]{12}$/);
});

test("100,000 similar names do not collide", () => {
  const names = new Set(Array.from({ length: 100_000 }, (_, index) => shortHash(`ev_${index}`, 9)));
  expect(names.size).toBe(100_000);
});

test("any number of hexadecimal digits can be requested, and they differ beyond the first eight", () => {
  expect(hexHash("a line", 8)).toMatch(/^[0-9a-f]{8}$/);
  const long = hexHash("a line", 32);
  expect(long).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(long.match(/.{8}/g)).size).toBe(4);
});
