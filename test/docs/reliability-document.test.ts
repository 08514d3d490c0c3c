import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const document = readFileSync(resolve(root, "docs/reliability.md"), "utf8");

test("every test that the table of the turn under faults names is there", () => {
  const [, rest = ""] = document.split("## The turn under faults");
  const [section = ""] = rest.split("\n## ");
  const rows = [...section.matchAll(/^\|.*\| `([^`]+\.test\.ts)` *\| `([^`]+)` *\|$/gm)];
  expect(rows.length).toBeGreaterThan(25);
  const missing = rows.filter(
    ([, file = "", name = ""]) => !readFileSync(resolve(root, file), "utf8").includes(`"${name}"`),
  );
  expect(missing.map(([row]) => row)).toEqual([]);
});
