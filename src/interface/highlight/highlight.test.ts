import fc from "fast-check";
import { expect, test } from "vitest";

import { type CodeRows, loadHighlighter } from "./index.ts";

const highlight = await loadHighlighter();

const NAMES =
  "js jsx mjs ts tsx json jsonl bash sh zsh console shell python py rust rs go golang java c h cpp c++ csharp cs c# " +
  "ruby rb php html xml svg css sql postgres yaml yml toml ini markdown md diff patch dockerfile docker";

const joined = (rows: CodeRows): string => rows.map((row) => row.map(({ text }) => text).join("")).join("\n");

const tones = (rows: CodeRows): readonly string[] =>
  [...new Set(rows.flat().map(({ tone }) => tone))].toSorted();

test("gives each piece of code its tone, in rows", () => {
  expect(highlight("const a = `x${b}`; // <hi> & 'you'\nf(1)", "ts")).toEqual([
    [
      { text: "const", tone: "keyword" },
      { text: " a = ", tone: "plain" },
      { text: "`x", tone: "string" },
      { text: "${b}", tone: "plain" },
      { text: "`", tone: "string" },
      { text: "; ", tone: "plain" },
      { text: "// <hi> & 'you'", tone: "comment" },
    ],
    [
      { text: "f", tone: "name" },
      { text: "(", tone: "plain" },
      { text: "1", tone: "number" },
      { text: ")", tone: "plain" },
    ],
  ]);
});

test("marks what a diff adds and removes", () => {
  expect(highlight("-a\n+b", "diff")).toEqual([
    [{ text: "-a", tone: "removed" }],
    [{ text: "+b", tone: "added" }],
  ]);
});

test.for(NAMES.split(" "))("knows the language %s", (name) => {
  const code = `# x\n// x\n$ x\n- x\n"x": 1, select = 'a' <b c="d">\nif (true) return 1; /* x */`;
  expect(tones(highlight(code, name))).not.toEqual(["plain"]);
});

test.for([
  ["an unknown language", "const a = 1", "klingon"],
  ["no language", "const a = 1", ""],
  ["the name of a property of every object", "const a = 1", "constructor"],
  ["much code", "const a = 1;\n".repeat(5_000), "js"],
  ["words that would take seconds", "word word\n".repeat(1_500), "cpp"],
  ["a long line", `const a = "${"x".repeat(600)}"`, "js"],
] as const)("leaves %s plain", ([, code, language]) => {
  const rows = highlight(code, language);
  expect(tones(rows)).toEqual(["plain"]);
  expect(joined(rows)).toBe(code);
});

test("joins to exactly the code, whatever the code and the language are", () => {
  const words = fc.constantFrom(
    ..."const \" ' ` // /* */ \n \r\n \t <a> </ &amp; & < > ${ } # - + {{ : 1 é 😀".split(" "),
  );
  const code = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(words, { maxLength: 60 }).map((some) => some.join("")),
    fc.array(words, { maxLength: 60 }).map((some) => some.join(" ")),
  );
  fc.assert(
    fc.property(code, fc.constantFrom(...NAMES.split(" "), "klingon"), (text, language) => {
      expect(joined(highlight(text, language))).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
