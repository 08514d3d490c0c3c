import { expect, test } from "vitest";

import { cleanTitle, titleOf } from "./title.ts";

test.for([
  ["fix the\nbuild", "fix the build"],
  ["review this\n\n<stdin>\ndiff --git a b\n</stdin>", "review this"],
  ["two\n\nparagraphs", "two paragraphs"],
  ["\n\n<stdin>\nonly this\n</stdin>", "<stdin> only this </stdin>"],
  ["what does a < b\n\n<b>mean</b>", "what does a < b <b>mean</b>"],
  ["README を日本語に 👩‍👩‍👧‍👦", "README を日本語に 👩‍👩‍👧‍👦"],
  ["a\u0007b\u200B\u202Ec \uD800", "a bc \uFFFD"],
  [`${"x".repeat(55)}👩‍👩‍👧‍👦`, "x".repeat(55)],
  [`${"x".repeat(49)}👩‍👩‍👧‍👦 and more`, `${"x".repeat(49)}👩‍👩‍👧‍👦`],
  ["각".normalize("NFD").repeat(30), "각".normalize("NFD").repeat(20)],
  [" ".repeat(1_000_000), ""],
] as const)("the title of %j is %j", ([text, title]) => {
  expect(titleOf(text)).toBe(title);
  expect(titleOf([{ type: "text", text }])).toBe(title);
});

test("a given title is cut between graphemes too", () => {
  const family = "👩‍👩‍👧‍👦";
  expect(cleanTitle(`${"x".repeat(195)}${family}`)).toBe("x".repeat(195));
  expect(cleanTitle(` ${family}\n`)).toBe(family);
  expect(() => cleanTitle(" \u200B\n")).toThrow(expect.objectContaining({ code: "title_empty" }));
});
