/** What the published package contains. */

import { execFileSync } from "node:child_process";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { read, root } from "../docs/documents.ts";
import { PACKAGE } from "../support/built.ts";

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
const [packed] = Object.values(JSON.parse(output) as Readonly<Record<string, Packed>>);
const files = packed?.files.map(({ path }) => path) ?? [];

/** True for a packed file and for a folder that contains one. */
function isPacked(path: string): boolean {
  return files.some((file) => file === path || file.startsWith(`${path}/`));
}

test.for(["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CONTEXT.md", "examples/README.md"])(
  "every relative link and picture in the packed %s is in the package",
  (document) => {
    expect(files).toContain(document);
    const targets = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target.split("#")[0] ?? "")
      .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
    const missing = targets.filter(
      (target) => !isPacked(posix.join(posix.dirname(document), target.replace(/\/$/, ""))),
    );
    expect(missing).toEqual([]);
  },
);

test("the package contains no source, test, tool or setting of the repository", () => {
  const folders = new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
  expect([...folders].filter((name) => !["dist", "docs", "evals", "examples"].includes(name ?? ""))).toEqual(
    [],
  );
  expect(files.filter((file) => /tsconfig|\.test\.|\.npmrc/.test(file))).toEqual([]);
});

test("every entry of package.json is built and exports something", async () => {
  const { exports } = JSON.parse(read("package.json")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const paths = Object.values(exports).filter((path) => path.endsWith(".js"));
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) {
    const entry: unknown = await import(pathToFileURL(join(PACKAGE, path)).href);
    expect([path, Object.keys(entry as object)]).not.toEqual([path, []]);
  }
});
