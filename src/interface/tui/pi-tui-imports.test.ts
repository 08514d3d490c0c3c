import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

test("only two files import pi-tui, so that it can be replaced (docs/adr/0011)", () => {
  const users = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.ts$/.test(name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes('from "@earendil-works/pi-tui"'));
  expect(users.toSorted()).toEqual(["tui/line-editor.ts", "tui/terminal-library.ts"]);
});
