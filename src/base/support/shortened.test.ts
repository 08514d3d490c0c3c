import fc from "fast-check";
import { expect, test } from "vitest";

import { shortened, wholeStart } from "./shortened.ts";

const FAMILY = "👩‍👩‍👧‍👦";

test.for([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["ab cd", 4, "ab…"],
  [`ab${FAMILY}`, 13, `ab${FAMILY}`],
  [`ab${FAMILY}c`, 13, "ab…"],
  ["🇩🇪🇫🇷🇮🇹", 9, "🇩🇪🇫🇷…"],
  ["日本語のテキスト", 4, "日本語…"],
  ["e\u0301e\u0301", 3, "e\u0301…"],
] as const)("%j in %d units is %j", ([text, most, short]) => {
  expect(shortened(text, most)).toBe(short);
});

test("a cut keeps within its limit and never leaves half a character", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 80 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 60 }), (given, most) => {
      const start = wholeStart(given, most);
      expect(given.startsWith(start)).toBe(true);
      expect(start.length).toBeLessThanOrEqual(most);
      expect(start.isWellFormed()).toBe(true);
    }),
  );
});

test("a letter with more marks than fit is cut all the same", () => {
  expect(wholeStart(`a${"\u0301".repeat(500)}`, 20)).toHaveLength(20);
});
