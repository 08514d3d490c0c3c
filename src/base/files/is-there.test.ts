import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { isThere } from "./is-there.ts";

test("a file and a folder exist; a missing name, or a path below a file, does not", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "folder"));
  expect(["file", "folder", "none", "file/below"].map((name) => isThere(join(folder, name)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("a path that cannot be examined does not count as absent", () => {
  const loop = join(temporaryFolder(), "loop");
  symlinkSync(loop, loop);
  expect(() => isThere(loop)).toThrow(expect.objectContaining({ code: "file_failed" }) as Error);
});
