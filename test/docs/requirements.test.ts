import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { quoted, read, root, rows } from "./documents.ts";

const COUNTS = { F: 26, Q: 14, G: 32, C: 18, P: 12 } as const;

const SHOWN = "test/docs/requirements-shown.test.ts";

const requirements = rows(read("docs/requirements.md")).map(([id = "", text = "", by = ""]) => ({
  id,
  text,
  by,
}));

test("all 102 requirements are listed, each once, in order, as one line of text", () => {
  const expected = Object.entries(COUNTS).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
  );
  expect(expected).toHaveLength(102);
  expect(requirements.map(({ id }) => id)).toEqual(expected);
  expect(requirements.filter(({ text }) => text.length < 20)).toEqual([]);
});

test("each requirement names tests that exist", () => {
  const problems: string[] = [];
  for (const { id, by } of requirements) {
    const files = quoted(by);
    if (files.length === 0 || /waits/.test(by)) problems.push(`${id} names nothing`);
    for (const file of files) {
      if (!file.endsWith(".test.ts") || !existsSync(join(root, file))) problems.push(`${id}: ${file}`);
    }
  }
  expect(problems).toEqual([]);
});

test("a requirement that names requirements-shown.test.ts is in the title of a test there, and vice versa", () => {
  const titles = [...read(SHOWN).matchAll(/^test\("([^"]*)"/gm)].flatMap(([, title = ""]) =>
    title.split(" "),
  );
  const shown = requirements.filter(({ by }) => by.includes(SHOWN)).map(({ id }) => id);
  const named = titles.filter((word) => /^[FQGCP]\d+$/.test(word));
  expect(shown.length).toBeGreaterThan(30);
  expect([...new Set(named)].toSorted()).toEqual(shown.toSorted());
});
