/** Every failure of groups A–F is either tested by name or listed with the reason why a client cannot cause it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const GROUPS = { P: 15, I: 13, E: 13, T: 16, S: 14, R: 17 } as const;

const EVERY = Object.entries(GROUPS).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, n) => `${letter}${String(n + 1).padStart(2, "0")}`),
);

/** The ids at the beginning of test names. */
function tested(): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const file of readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"))) {
    const source = readFileSync(join(import.meta.dirname, file), "utf8");
    for (const [, name = ""] of source.matchAll(/["'`]((?:[PIETSR]\d\d )+)/g)) {
      for (const id of name.trim().split(" ")) ids.add(id);
    }
  }
  return ids;
}

function listed(): ReadonlySet<string> {
  const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  return new Set([...readme.matchAll(/^\| ([PIETSR]\d\d) \| \S.*\|$/gm)].map(([, id = ""]) => id));
}

test("every failure is tested or accounted for, and none is both", () => {
  const names = tested();
  const table = listed();
  expect(EVERY.filter((id) => !names.has(id) && !table.has(id))).toEqual([]);
  expect(EVERY.filter((id) => names.has(id) && table.has(id))).toEqual([]);
  expect([...names, ...table].filter((id) => !EVERY.includes(id))).toEqual([]);
});
