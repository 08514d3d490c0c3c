import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { expect, test } from "vitest";

import { FOLDERS, WINGS } from "../support/import-tables.ts";
import { read, root, rows, section } from "./documents.ts";

const documents = [
  "examples/README.md",
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

test("one command runs everything: format, lint, types, architecture and every test", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(scripts).toMatchObject({
    // `check` and every test; the architecture test is one of them.
    test: "npm run lint && npm run typecheck && vitest run",
    "test:quick":
      "npm run lint && npm run typecheck && vitest run src test/laws test/contracts test/docs test/architecture.test.ts",
    check: "npm run lint && npm run typecheck && vitest run test/architecture.test.ts",
    lint: "oxfmt --check && oxlint --deny-warnings",
    typecheck: "tsc -p tsconfig.json && tsc -p src/interface/web/tsconfig.json",
  });
  expect(read("vitest.config.ts")).toContain('include: ["src/**/*.test.ts", "test/**/*.test.ts"]');
});

test("the changelog has an Unreleased section, and it or the newest release says what was added", () => {
  const [first = "", second = ""] = [...read("CHANGELOG.md").matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  expect(first).toBe("[Unreleased]");
  const unreleased = section(read("CHANGELOG.md"), first);
  expect(unreleased.trim() === "" ? section(read("CHANGELOG.md"), second) : unreleased).toMatch(
    /### \w+\n\n- \S/,
  );
});

test("every relative link in a document leads somewhere", () => {
  const broken: string[] = [];
  let seen = 0;
  for (const document of documents) {
    for (const [, target = ""] of read(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      seen += 1;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(root, document) : resolve(root, dirname(document), path);
      if (!existsSync(file)) broken.push(`${document}: ${target}`);
      else if (anchor !== undefined && !anchors(file).includes(anchor)) broken.push(`${document}: ${target}`);
    }
  }
  expect(seen).toBeGreaterThan(20);
  expect(broken).toEqual([]);
});

function anchors(file: string): readonly string[] {
  return [...read(file.slice(root.length + 1)).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

test("documents describe only the product: no machine paths, no registry", () => {
  const places = /\/work\b|\/root\b|\/home\/|\bregistry\.[a-z]|\/tmp\//;
  expect(documents.filter((document) => places.test(read(document)))).toEqual([]);
});

test("CONTRIBUTING's tables of wings and folders match those that the architecture test enforces", () => {
  const documented = new Map(
    rows(section(read("CONTRIBUTING.md"), "The wings")).map(([place = "", , imports = ""]) => [
      place.replaceAll("`", ""),
      imports.split(", ").filter((name) => name !== "–"),
    ]),
  );
  const inFolders = Object.entries(FOLDERS).flatMap(([wing, folders]) =>
    Object.entries(folders).map(([folder, imports]) => [`${wing}/${folder}`, imports] as const),
  );
  const enforced = [...Object.entries(WINGS), ...inFolders];
  expect(documented).toEqual(new Map([...enforced, ["interface/cli", ["anything"]]]));
});

test("every decision record has a number and the sections context, decision, consequences and verification", () => {
  const records = readdirSync(join(root, "docs/adr")).toSorted();
  expect(records.map((name) => Number(name.slice(0, 4)))).toEqual(records.map((_, index) => index + 1));
  for (const name of records) {
    const headings = [...read(`docs/adr/${name}`).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect([name, headings]).toEqual([name, ["Context", "Decision", "Consequences", "Verification"]]);
  }
});

test("the glossary gives every term its banned synonyms", () => {
  const entries = read("CONTEXT.md")
    .split("\n\n")
    .filter((paragraph) => paragraph.startsWith("**"));
  expect(entries.length).toBeGreaterThan(15);
  expect(entries.filter((entry) => !/\nAvoid: /.test(entry))).toEqual([]);
});
