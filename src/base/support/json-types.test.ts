import { expect, test } from "vitest";

import { arrayOf, isObject, numberOf, objectOf, stringOf, tryParseJson } from "./json-types.ts";

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ["x", false],
  [undefined, false],
])("isObject(%j) is %s", (value, expected) => {
  expect(isObject(value)).toBe(expected);
});

test("readers return a value of the right kind, or nothing", () => {
  expect([stringOf("x"), stringOf(""), stringOf(7)]).toEqual(["x", "", undefined]);
  expect([numberOf(0), numberOf(Number.NaN), numberOf(Infinity), numberOf("7")]).toEqual([
    0,
    undefined,
    undefined,
    undefined,
  ]);
  expect([objectOf({ a: 1 }), objectOf([]), objectOf(null)]).toEqual([{ a: 1 }, {}, {}]);
  expect([arrayOf([1]), arrayOf({}), arrayOf("ab")]).toEqual([[1], [], []]);
});

test("tryParseJson returns undefined for invalid JSON, and null for null", () => {
  expect([tryParseJson("{"), tryParseJson(""), tryParseJson("null"), tryParseJson("[1]")]).toEqual([
    undefined,
    undefined,
    null,
    [1],
  ]);
});
