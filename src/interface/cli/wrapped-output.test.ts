import fc from "fast-check";
import { expect, test } from "vitest";

import { wrapLines } from "./wrapped-output.ts";

test.for([
  ["breaks between words and indents the rest", "one two three", 8, "one two\n  three"],
  ["indents deeper than the line begins", "  one two three", 9, "  one two\n   three"],
  ["a line that fits stays unchanged", "one two\n\nthree\n", 8, "one two\n\nthree\n"],
  ["a gap is dropped where the line breaks", "one   two", 5, "one\n two"],
  [
    "a word longer than the line stays whole, so that it can be copied",
    "see /a/very/long/path",
    8,
    "see\n  /a/very/long/path",
  ],
  ["JSON stays unchanged", '  "a": "one two three"', 8, '  "a": "one two three"'],
  ["styles take no room", "\u001B[2mone two\u001B[0m", 7, "\u001B[2mone two\u001B[0m"],
  ["wide characters take two columns", "日本 日本", 8, "日本\n  日本"],
] as const)("%s", ([, text, columns, rows]) => {
  expect(wrapLines(text, columns)).toBe(rows);
});

test("no word is split or lost at any width", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 20 }),
      fc.integer({ min: 1, max: 60 }),
      (words, columns) => {
        const rows = wrapLines(words.join(" "), columns);
        expect(rows.split(/\s+/).filter((word) => word !== "")).toEqual(words);
        for (const row of rows.split("\n")) {
          expect(row.length <= columns || !/\S\s+\S/.test(row.trim())).toBe(true);
        }
      },
    ),
  );
});
