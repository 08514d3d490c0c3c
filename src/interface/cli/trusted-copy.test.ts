/** Exactly the trusted bytes run, whatever happens to the files in the meantime. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import { fileClosure } from "../config/index.ts";
import { loadTools } from "./load-tools.ts";

/** A tool that returns the texts of its module and its imports. */
const MODULE = `import { word } from "./word.mjs";
import { createRequire } from "node:module";
const load = createRequire(import.meta.url);
export const probe = {
  name: "probe",
  validate: () => undefined,
  run: async () => [word, (await import("./late.mjs")).word, load("./old.cjs")].join(" "),
};
`;

function project(files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "throughline-copy-"));
  const before = process.env["THROUGHLINE_HOME"];
  process.env["THROUGHLINE_HOME"] = join(folder, "home");
  afterTest(() => {
    if (before === undefined) delete process.env["THROUGHLINE_HOME"];
    else process.env["THROUGHLINE_HOME"] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  const at = (name: string): string => join(folder, "work", name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  return at;
}

const FILES = {
  "t.mjs": MODULE,
  "word.mjs": 'export const word = "checked";',
  "late.mjs": 'export const word = "checked";',
  "old.cjs": 'module.exports = "checked";',
};

async function said(file: string, trusted: ReturnType<typeof fileClosure>): Promise<unknown> {
  const [tool] = await loadTools(file, { trusted });
  return (tool as unknown as { readonly run: () => Promise<unknown> }).run();
}

test.for([
  [
    "edits every file",
    (at: (name: string) => string) =>
      Object.keys(FILES).forEach((name) =>
        writeFileSync(at(name), 'export const word = module.exports = "evil";'),
      ),
  ],
  [
    "removes every file",
    (at: (name: string) => string) => Object.keys(FILES).forEach((name) => rmSync(at(name))),
  ],
  [
    "swaps the module for a link",
    (at: (name: string) => string) => {
      rmSync(at("t.mjs"));
      writeFileSync(at("../evil.mjs"), "throw new Error('evil');");
      symlinkSync("../evil.mjs", at("t.mjs"));
    },
  ],
  [
    "adds a package.json",
    (at: (name: string) => string) => writeFileSync(at("package.json"), '{"type":"commonjs","imports":{}}'),
  ],
] as const)("if someone %s between the check and the load, the checked bytes run", async ([, change]) => {
  const at = project(FILES);
  const trusted = fileClosure(at("."), [at("t.mjs")]);
  expect(trusted.problem).toBeUndefined();
  change(at);
  expect(await said(at("t.mjs"), trusted)).toBe("checked checked checked");
});

test("a file that is imported late is the file that was checked", async () => {
  const at = project(FILES);
  const trusted = fileClosure(at("."), [at("t.mjs")]);
  const [tool] = await loadTools(at("t.mjs"), { trusted });
  writeFileSync(at("late.mjs"), 'export const word = "evil";');
  writeFileSync(at("old.cjs"), 'module.exports = "evil";');
  expect(await (tool as unknown as { readonly run: () => Promise<unknown> }).run()).toBe(
    "checked checked checked",
  );
});
