import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { read, root, runNode, runProgram, section } from "./documents.ts";

const folder = mkdtempSync(join(tmpdir(), "throughline-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const library = section(read("README.md"), "As a library");
const code = /```ts\n([\s\S]*?)```/.exec(library)?.[1] ?? "";
const printed = /It prints:\n\n```\n([\s\S]*?)```/.exec(library)?.[1] ?? "";

writeFileSync(join(folder, "package.json"), '{"type":"module"}');
writeFileSync(join(folder, "readme.ts"), code);
test("the README's program prints what the README says, twice on one session", () => {
  const first = runProgram(join(folder, "readme.ts"), folder);
  expect(first.stderr).toBe("");
  expect(first.status).toBe(0);
  expect(printed).not.toBe("");
  expect(first.stdout.startsWith(printed)).toBe(true);
  expect(first.stdout).toContain("'same_origin'");
  const second = runProgram(join(folder, "readme.ts"), folder); // the session exists now and continues
  expect(second.status).toBe(0);
  expect(second.stdout.match(/'reasoning'/g)?.length).toBe(4);
});

test("the README's demo is what `start` prints without a terminal", () => {
  // As `npm start` does, from the sources.
  const main = join(root, "src/interface/cli/main.ts");
  const { status, stdout } = runNode(["--import", import.meta.resolve("tsx"), main, "start"], folder);
  expect(status).toBe(0);
  const shown = /```\n(› What is the weather[\s\S]*?)```/.exec(read("README.md"))?.[1] ?? "";
  const steady = shown
    .split("\n")
    .filter((line) => line !== "" && !/^Log:|^· Thought for|thought of \d+|…$/.test(line));
  expect(steady.length).toBeGreaterThan(8);
  for (const line of steady) expect(stdout.split("\n")).toContain(line);
  expect(stdout).toMatch(/I thought of \d+\. It was in my own notes, and they came back to me\./);
});
