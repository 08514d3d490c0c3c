import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const document = readFileSync(resolve(root, "docs/reliability.md"), "utf8");

test("every test that the list of the turn under faults names exists", () => {
  const [, rest = ""] = document.split("## The turn under faults");
  const [section = ""] = rest.split("\n## ");
  const entries = [...section.matchAll(/^- .*: `([^`]+\.test\.ts)`, `([^`]+)`$/gm)];
  expect(entries.length).toBeGreaterThan(25);
  const missing = entries.filter(
    ([, file = "", name = ""]) => !readFileSync(resolve(root, file), "utf8").includes(`"${name}"`),
  );
  expect(missing.map(([entry]) => entry)).toEqual([]);
});
