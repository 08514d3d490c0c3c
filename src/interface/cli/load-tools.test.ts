import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { loadTools } from "./load-tools.ts";

const folder = mkdtempSync(join(tmpdir(), "throughline-tools-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a module that waits forever fails with a code and a hint", async () => {
  const file = join(folder, "waits.mjs");
  writeFileSync(file, "await new Promise(() => undefined);\n");
  await expect(loadTools(file, { patienceMs: 50 })).rejects.toMatchObject({
    code: "tools_file_timeout",
    message: expect.stringContaining("0.05 s; does it wait for something at its top level?") as string,
  });
});
