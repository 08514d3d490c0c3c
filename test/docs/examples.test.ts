import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { type Ran, read, root, runNode, runProgram, section } from "./documents.ts";

const folder = mkdtempSync(join(tmpdir(), "throughline-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function example(name: string): string {
  return outputOf(runProgram(join(root, "examples", name), folder, [folder]));
}

function outputOf({ status, stdout, stderr }: Ran): string {
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** What examples/README.md says that an example prints. */
function documented(name: string): readonly string[] {
  const printed = section(read("examples/README.md"), name).split("```\n")[2] ?? "";
  return printed.split("\n").filter((line) => line !== "");
}

test("every example is in examples/README.md with its command, and a test of this file runs it", () => {
  const files = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
  expect(files.toSorted()).toEqual([
    "structured-output.ts",
    "survive-ai-sdk.ts",
    "survive.ts",
    "switch-models.ts",
    "tool.ts",
  ]);
  for (const name of files) {
    const command = `npx tsx --tsconfig examples/tsconfig.json examples/${name}`;
    expect(section(read("examples/README.md"), name)).toContain(command);
    expect(read(`examples/${name}`)).toContain(command);
  }
});

test("tool.ts prints what its README says, calls its tool in parallel, and continues the session in a second run", () => {
  const first = example("tool.ts");
  expect(first.split("\n")).toEqual(expect.arrayContaining([...documented("tool.ts")]));
  expect(first).toContain('→ get_weather({"city":"Rome"})');
  expect(first).toContain("ok: 21 °C and sunny in Rome");
  expect(first.match(/ {2}completed: /g)?.length).toBe(2);
  expect(example("tool.ts").match(/ {2}completed: /g)?.length).toBe(2);
});

test("switch-models.ts loses the number abroad, recalls it at home, and no request is refused", () => {
  const out = example("switch-models.ts");
  const fixed = documented("switch-models.ts").filter((line) => !/…|I thought of/.test(line));
  expect(out.split("\n")).toEqual(expect.arrayContaining(fixed));
  expect(out).toContain("Switching: 0 thoughts travel, 1 stay (foreign_origin)");
  expect(out).toContain("reasoning: omit (made by emu-reasoner)");
  expect(out).toMatch(/And back:\nI thought of \d+\./);
  expect(out).toContain("3 requests accepted, 0 refused, recall 100 %");
});

test("structured-output.ts prints an object that matches its schema", () => {
  // With the command that the head of each example names.
  const file = join(root, "examples/structured-output.ts");
  const command = [
    fileURLToPath(import.meta.resolve("tsx/cli")),
    "--tsconfig",
    join(root, "examples/tsconfig.json"),
    file,
  ];
  const [status, json] = outputOf(runNode(command, folder)).split("\n");
  expect([status, json]).toEqual(documented("structured-output.ts"));
  expect(status).toBe("completed");
  expect(JSON.parse(json ?? "")).toEqual({
    name: expect.any(String),
    country: expect.any(String),
    population: expect.any(Number),
  });
});
