import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { loadHighlighter } from "../highlight/index.ts";
import { markdownRows } from "./markdown-rows.ts";
import { charactersIn } from "./rows.ts";
import { createStyle } from "./style.ts";
import { widthOf } from "./terminal-library.ts";

const plain = { style: createStyle(false) };
const coloured = { style: createStyle(true), highlight: await loadHighlighter() };

// oxlint-disable-next-line no-control-regex -- our own styles
const STYLES = /\u001B\[\d+m/g;
// oxlint-disable-next-line no-control-regex -- our own styles
const BOLD_THEN_PLAIN = /^\u001B\[1m[a-z ]+\u001B\[22m +[xyz ]+$/;

const rowsAt = (width: number, ...lines: readonly string[]): readonly string[] =>
  markdownRows(lines.join("\n"), width, plain);

describe("code", () => {
  test("has its language as a label, a constant indent and no fences", () => {
    expect(rowsAt(40, "Run:", "```sh", "npm i", "", "npm test", "```", "Done.")).toEqual([
      "Run:",
      "",
      "sh",
      "  npm i",
      "",
      "  npm test",
      "",
      "Done.",
    ]);
  });

  test("has no label without a language", () => {
    expect(rowsAt(40, "```", "a", "  b", "```")).toEqual(["  a", "    b"]);
  });

  test("continues a line that is too long two columns deeper than it begins", () => {
    expect(rowsAt(24, "```ts", "  const answer = compute(first, second);", "next();", "```")).toEqual([
      "ts",
      "    const answer =",
      "      compute(first,",
      "      second);",
      "  next();",
    ]);
  });

  test("is cut where a row is full if there is no space, and never inside of a character", () => {
    expect(rowsAt(12, "```", "abcdefghijklmnopq", "世界世界世界世界", "```")).toEqual([
      "  abcdefghij",
      "    klmnopq",
      "  世界世界世",
      "    界世界",
    ]);
  });

  test("keeps its place in a list and in a quote", () => {
    expect(rowsAt(30, "1. Run:", "   ```sh", "   npm i", "   ```", "2. Look.")).toEqual([
      "1. Run:",
      "   sh",
      "     npm i",
      "2. Look.",
    ]);
    expect(rowsAt(30, "> ```", "> a", "> ```")).toEqual(["│   a"]);
  });

  test("is coloured, each row by itself", () => {
    const rows = markdownRows('```js\nconst a = "x"; // why\n/* one\ntwo */\n```', 40, coloured);
    expect(rows).toEqual([
      "\u001B[2mjs\u001B[22m",
      '  \u001B[36mconst\u001B[39m a = \u001B[32m"x"\u001B[39m; \u001B[2m// why\u001B[22m',
      "  \u001B[2m/* one\u001B[22m",
      "  \u001B[2mtwo */\u001B[22m",
    ]);
  });

  test("has the same rows with and without colours", () => {
    const line = fc.constantFrom(
      "const a = `x ${1}`;",
      "  // 世界 and more words",
      "",
      "}",
      "/* open",
      "a".repeat(50),
    );
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 4, max: 60 }), (lines, width) => {
        const text = ["```ts", ...lines, "```"].join("\n");
        const bare = markdownRows(text, width, coloured).map((row) => row.replaceAll(STYLES, "").trimEnd());
        expect(bare).toEqual(markdownRows(text, width, plain));
      }),
    );
  });

  test("keeps the rows above its last line when it grows", () => {
    const line = fc.constantFrom(
      "if (a) {",
      "  return `many words in ${one} line`;",
      "",
      "}",
      "世界".repeat(9),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 2 }), fc.integer({ min: 8, max: 40 }), (lines, width) => {
        const before = rowsAt(width, "```ts", ...lines.slice(0, -1), "");
        const after = rowsAt(width, "```ts", ...lines);
        expect(after.slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

describe("a table", () => {
  const fruit = [
    "| Name | Count | 説明 |",
    "|:-----|------:|:----:|",
    "| apple 🍎 | 7 | 果物 |",
    "| 👩‍👩‍👧 | 1,234 | 家族です |",
    "| `code` | | **x** |",
  ];

  test("has columns as wide as their content, aligned as it says", () => {
    expect(rowsAt(60, ...fruit)).toEqual([
      "Name      Count    説明",
      "────────  ─────  ────────",
      "apple 🍎      7    果物",
      "👩‍👩‍👧        1,234  家族です",
      "code                x",
    ]);
  });

  const notes = [
    "| Key | Note |",
    "|---|---|",
    "| one | a note that is longer than the terminal is wide |",
    "| two | short<br>and more |",
  ];

  test("that is too wide wraps in its widest columns, with rules between the rows", () => {
    expect(rowsAt(30, ...notes)).toEqual([
      "Key  Note",
      "───  ─────────────────────────",
      "one  a note that is longer",
      "     than the terminal is wide",
      "───  ─────────────────────────",
      "two  short",
      "     and more",
    ]);
  });

  test("whose words would be cut apart shows names and values", () => {
    const wide = [
      "|Name|Description|Configuration|",
      "|---|---|---|",
      "|a|electrical|international|",
      "|b||x|",
    ];
    expect(rowsAt(24, ...wide)).toEqual([
      "Name: a",
      "Description:",
      "  electrical",
      "Configuration:",
      "  international",
      "",
      "Name: b",
      "Description:",
      "Configuration: x",
    ]);
  });

  test("does not let a style reach beyond its cell", () => {
    const [, , ...body] = markdownRows(
      "|a|b|\n|-|-|\n|**one two three four**|x y z x y z x y|",
      24,
      coloured,
    );
    for (const row of body) expect(row).toMatch(BOLD_THEN_PLAIN);
  });
});

test("tasks have boxes, and items hang below their text", () => {
  expect(
    rowsAt(
      24,
      "- [ ] write *the* test",
      "- [x] see it fail and then",
      "  1. nested",
      "     - deeper",
      "- plain",
      "",
      "  with more",
      "1. [x] numbered",
    ),
  ).toEqual([
    "☐ write the test",
    "☑ see it fail and then",
    "  1. nested",
    "     - deeper",
    "- plain",
    "",
    "  with more",
    "1. ☑ numbered",
  ]);
});

test("a quote has a bar in front of each row", () => {
  expect(rowsAt(20, "> A long line that is wrapped.", ">", "> > inside", "", "Outside.")).toEqual([
    "│ A long line that",
    "│ is wrapped.",
    "│",
    "│ │ inside",
    "",
    "Outside.",
  ]);
});

test("a style that ends does not end the one around it", () => {
  expect(markdownRows("# A `b` c", 40, coloured)).toEqual([
    ["A ", "\u001B[36mb\u001B[39m", " c"]
      .map((text) => `\u001B[36m\u001B[1m\u001B[4m${text}\u001B[24m\u001B[22m\u001B[39m`)
      .join(""),
  ]);
});

test("a single tilde means about, and two delete", () => {
  expect(markdownRows("~5 to ~10, ~~gone~~", 40, coloured)).toEqual(["~5 to ~10, \u001B[9mgone\u001B[29m"]);
});

test.for([
  ["quotes", `${">".repeat(9_000)} a`],
  ["lists", `${"- ".repeat(4_000)}a`],
  ["emphasis", `${"*".repeat(4_000)}a${"*".repeat(4_000)}`],
] as const)("thousands of %s in each other are shown as they are", ([, text]) => {
  expect(rowsAt(80, text).join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
});

test("a long line of code takes time in proportion to its length", () => {
  const line = "x".repeat(300_000);
  expect(
    rowsAt(82, "```", line, "```")
      .map((row) => row.trim())
      .join(""),
  ).toBe(line);
});

test("no row is wider than the terminal, and no character is lost", () => {
  const line = fc.constantFrom(
    "words in a row",
    "- item 世界",
    "  - [ ] task",
    "> quote 👩‍👩‍👧",
    "```js",
    "```",
    "| a | long cell |",
    "|---|--:|",
    "# head",
    "",
    "https://example.com/a/long/address",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 20, max: 90 }), (lines, width) => {
      const rows = rowsAt(width, ...lines);
      for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(width);
      if (!lines.includes("|---|--:|")) expect(charactersIn(rows)).toBe(charactersIn(rowsAt(200, ...lines)));
    }),
  );
});
