/** The sentences that compare are made from the lines of the table; here from lines whose answer is known. */

import { expect, test } from "vitest";

import { load } from "./harness.ts";

const { librarySentences, growthSentence, changeSentence } = await load("sentences.mjs");

const columns = [
  { id: "ours", title: "ours N24" },
  { id: "ours-file", title: "ours N24 + file" },
];

function line(
  id: string,
  unit: string,
  medians: Readonly<Record<string, number>>,
): Parameters<typeof librarySentences>[0][number] {
  const cells = Object.entries(medians).map(([variant, median]) => [variant, { median, count: 1 }]);
  return { id, title: `row ${id}`, unit, form: "ratio", cells: Object.fromEntries(cells) };
}

test("counts a row only if no library is better or level, and names the rows and libraries that are", () => {
  const [cpu, memory] = librarySentences(
    [
      line("a", "× floor, CPU", { ours: 2, openai: 4, ai: 5 }),
      line("b", "× floor, CPU", { ours: 2, openai: 1.7, ai: 2.1 }),
      line("c", "× floor, RSS", { ours: 1, openai: 3 }),
      line("d", "× floor, CPU", { ours: 1 }),
    ],
    columns,
  );
  expect(cpu).toBe(
    "- **Processor time.** ours N24: Throughline takes less processor time than every library in 1 of 2 rows; the others are row b (openai better, ai level).",
  );
  expect(memory).toBe(
    "- **Memory and size.** ours N24: Throughline needs less than every library in 1 of 1 rows.",
  );
});

test("compares the file store through the plain floor, as the libraries are", () => {
  const one = line("a", "× floor, CPU", { openai: 3 });
  const cells = { ...one.cells, "ours-file": { median: 2, count: 1, plain: { median: 4 } } };
  expect(librarySentences([{ ...one, cells }], columns)[0]).toContain(
    "0 of 1 rows; the others are row a (openai better)",
  );
});

test("leaves out a library that was measured at a smaller size, and one that failed", () => {
  const one = line("a", "× floor, CPU", { ours: 3, openai: 4 });
  const cells = { ...one.cells, pi: { median: 1, size: "50 KB" }, ai: { wrong: true } };
  expect(librarySentences([{ ...one, cells }], columns)[0]).toContain("in 1 of 1 rows.");
});

test("says how the cost of a step grows, and says nothing without the libraries", () => {
  const flat = line("step-flat", "× own cost", { ours: 0.5, openai: 7.6, ai: 4 });
  expect(growthSentence([flat])[0]).toContain(
    "0.5 times the cost in Throughline, 4.0 to 7.6 times in the libraries",
  );
  expect(growthSentence([line("step-flat", "× own cost", { ours: 0.5 })])).toEqual([]);
});

test("counts what fell and what rose since an earlier build, and names what rose", () => {
  const lines = [
    line("a", "× floor, CPU", { ours: 1, before: 2 }),
    line("b", "× floor, CPU", { ours: 2, before: 2 }),
    line("c", "× floor, CPU", { ours: 3, before: 2, "ours-file": 1, "before-file": 2 }),
  ];
  expect(changeSentence(lines, columns, "version 1")).toBe(
    "Of 4 figures, 2 are more than a tenth below those of version 1, 1 are within a tenth, and 1 are more than a tenth above: row c (ours N24).",
  );
});
