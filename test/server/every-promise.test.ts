/** README.md names a test for every entry W01–W23 and P03, and every test it names exists. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");

test("every entry has a test", () => {
  const entries = Array.from({ length: 23 }, (_, n) => `W${String(n + 1).padStart(2, "0")}`);
  const named = new Set(
    [...readme.matchAll(/^- \*\*([WP]\d\d)\*\*: .*\n {2}- `[\w./-]+`: "[^"]+"/gm)].map(([, entry]) => entry),
  );
  expect([...entries, "P03"].filter((entry) => !named.has(entry))).toEqual([]);
});

test("every named test exists", () => {
  const gone: string[] = [];
  let count = 0;
  for (const line of readme.split("\n").filter((one) => one.startsWith("  - "))) {
    let source = "";
    for (const [, file, name] of line.matchAll(/`([\w./-]+\.test\.ts)`|"((?:[^"])+)"/g)) {
      if (file !== undefined) source = readFileSync(join(import.meta.dirname, file), "utf8");
      else if (name !== undefined) {
        count += 1;
        if (!source.includes(`"${name}"`) && !source.includes(`\`${name}\``)) gone.push(name);
      }
    }
  }
  expect(gone).toEqual([]);
  expect(count).toBeGreaterThan(50);
});
