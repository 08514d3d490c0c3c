import { expect, test } from "vitest";

import { excerptAt } from "./excerpt.ts";

const LONG =
  "The quick brown fox jumps over the lazy dog while the careful reader counts every single word of this rather long line";

test.for([
  ["short text", "text", "short text"],
  [LONG, "The", "The quick brown fox jumps over the lazy dog while the…"],
  [LONG, "lazy", "…fox jumps over the lazy dog while the careful reader counts every single word…"],
  [LONG, "line", "…of this rather long line"],
  ["x".repeat(200), "x", `${"x".repeat(60)}…`],
] as const)("of %s around %s", ([text, word, expected]) => {
  expect(excerptAt(text, text.indexOf(word), word.length)).toBe(expected);
});

test("never splits a character, and always contains the match", () => {
  const text = `${"😀".repeat(40)}needle${"😀".repeat(60)}`;
  const found = excerptAt(text, text.indexOf("needle"), 6);
  expect(found).toContain("needle");
  expect(found.isWellFormed()).toBe(true);
});
