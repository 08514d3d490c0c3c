import { expect, test } from "vitest";

import { isBase64Text } from "./base64.ts";

test.each([
  ["AAAA", true],
  ["AA==", true],
  ["AAA=", true],
  ["", false],
  ["====", false],
  ["AA===", false],
  ["A=AA", false],
  ["AA A", false],
  ["AA-_", false],
  ["AAAA\n", false],
])("%j: %j", (text, expected) => {
  expect(isBase64Text(text)).toBe(expected);
});

test("a hundred megabytes can be judged", () => {
  const long = "A".repeat(100 * 1024 * 1024);
  expect(isBase64Text(long)).toBe(true);
  expect(isBase64Text(`${long}!`)).toBe(false);
});
