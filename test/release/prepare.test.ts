/** npm's `prepare` script, run in a small folder with a build that counts its runs: `scripts/prepare.mjs`. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../contracts/file-fixture.ts";
import { type Ran, root, runNode } from "../docs/documents.ts";

const BUILD = `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
mkdirSync("dist", { recursive: true });
appendFileSync("builds", "x");
writeFileSync("dist/THIRD_PARTY_NOTICES", "");
`;

class Checkout {
  readonly folder = temporaryFolder();

  constructor(build = BUILD) {
    for (const name of [
      "src",
      "scripts",
      "node_modules/typescript",
      "node_modules/esbuild",
      "node_modules/vite",
    ])
      mkdirSync(join(this.folder, name), { recursive: true });
    copyFileSync(join(root, "scripts/prepare.mjs"), join(this.folder, "scripts/prepare.mjs"));
    writeFileSync(join(this.folder, "scripts/build.mjs"), build);
    writeFileSync(join(this.folder, "src/index.ts"), "");
    writeFileSync(join(this.folder, "package.json"), "{}");
  }

  prepare(): Ran {
    return runNode([join(this.folder, "scripts/prepare.mjs")], this.folder);
  }

  get builds(): number {
    const path = join(this.folder, "builds");
    return existsSync(path) ? readFileSync(path, "utf8").length : 0;
  }
}

test("builds if dist is missing or older than a source, and not otherwise", () => {
  const checkout = new Checkout();
  expect(checkout.prepare()).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(checkout.builds).toBe(1);
  writeFileSync(join(checkout.folder, "package-lock.json"), "{}");
  checkout.prepare();
  expect(checkout.builds).toBe(1);
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(checkout.folder, "src/index.ts"), later, later);
  checkout.prepare();
  expect(checkout.builds).toBe(2);
});

test("an installation without the build tools succeeds, and says that nothing was built", () => {
  const checkout = new Checkout();
  rmSync(join(checkout.folder, "node_modules/vite"), { recursive: true });
  expect(checkout.prepare()).toEqual({
    status: 0,
    stdout: "",
    stderr: "throughline: not built, because vite is not installed. Run npm install, then npm run build.\n",
  });
  expect(checkout.builds).toBe(0);
});

test("a failing build fails", () => {
  const { status, stderr } = new Checkout("process.exit(3);\n").prepare();
  expect([status, stderr]).toEqual([1, "throughline: the build failed; its output is above\n"]);
});
