import { expect, test } from "vitest";

import { titleOf } from "./title.ts";

test.for([
  ["fix the\nbuild", "fix the build"],
  ["review this\n\n<stdin>\ndiff --git a b\n</stdin>", "review this"],
  ["two\n\nparagraphs", "two paragraphs"],
  ["\n\n<stdin>\nonly this\n</stdin>", "<stdin> only this </stdin>"],
  ["what does a < b\n\n<b>mean</b>", "what does a < b <b>mean</b>"],
] as const)("the title of %j is %j", ([text, title]) => {
  expect(titleOf(text)).toBe(title);
  expect(titleOf([{ type: "text", text }])).toBe(title);
});
