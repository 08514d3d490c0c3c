import fc from "fast-check";
import { expect, test } from "vitest";

import { markdownChunks } from "./markdown-chunks.ts";

test.for([
  ["one paragraph", "a\nb", ["a\nb"]],
  ["two paragraphs", "a\n\nb", ["a", "b"]],
  ["a blank line at the end may still be continued", "a\n\n", ["a\n\n"]],
  ["a fence is not cut", "```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```", "c"]],
  ["a longer fence holds a shorter one", "````\n```\n\nx\n````\n\ny", ["````\n```\n\nx\n````", "y"]],
  ["an item continues on the indented line", "- a\n\n  b\n\nc", ["- a\n\n  b", "c"]],
  ["nothing", "", [""]],
] as const)("%s", ([, text, chunks]) => {
  expect(markdownChunks(text)).toEqual(chunks);
});

test("every chunk but the last stays the same when more text arrives", () => {
  const line = fc.constantFrom("", "a", "  b", "```", "- c", "# d", "~~~");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const text = lines.join("\n");
      const whole = markdownChunks(text);
      for (let end = 0; end <= text.length; end += 1) {
        const before = markdownChunks(text.slice(0, end));
        expect(whole.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      }
    }),
  );
});
