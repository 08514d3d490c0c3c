import { expect, test } from "vitest";

import { fitted, widthOf } from "./text-width.ts";

test.for([
  ["", 0],
  ["plain words", 11],
  ["\u001B[2mdim\u001B[0m", 3],
  ["日本語", 6],
  ["한국어", 6],
  ["é", 1],
  ["e\u0301", 1],
  ["👍🏽", 2],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["ｆｕｌｌ", 8],
] as const)("%j takes %d columns", ([text, columns]) => {
  expect(widthOf(text)).toBe(columns);
});

test.for([
  ["short", 10, "short"],
  ["exactly 10", 10, "exactly 10"],
  ["a little longer", 10, "a little…"],
  ["日本語のタイトル", 10, "日本語の…"],
  ["日本語のタイトル", 16, "日本語のタイトル"],
  ["x👩‍👩‍👧👩‍👩‍👧", 4, "x👩‍👩‍👧…"],
] as const)("%j fits into %d columns as %j", ([text, columns, expected]) => {
  expect(fitted(text, columns)).toBe(expected);
  expect(widthOf(fitted(text, columns))).toBeLessThanOrEqual(columns);
});
