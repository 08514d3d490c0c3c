/** package.json is the only place that holds the version. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { VERSION } from "../../src/base/support/index.ts";
import { createAgent, emulator } from "../../src/index.ts";
import { CLI, PACKAGE } from "../support/built.ts";
import { sourceFiles, sourceText } from "../support/source-imports.ts";
import { read, root, runNode } from "./documents.ts";

const manifest = JSON.parse(read("package.json")) as { readonly version: string };

test("the source and the built command report the version in package.json", () => {
  expect(VERSION).toBe(manifest.version);
  expect(runNode([CLI, "--version"], root)).toEqual({
    status: 0,
    stdout: `${manifest.version}\n`,
    stderr: "",
  });
});

test("a log names the version that wrote it", async () => {
  await using session = await createAgent({ model: emulator() }).open();
  await session.send("Hello").result();
  for await (const event of session.events()) {
    expect(event).toMatchObject({ type: "session_start", writer: `throughline/${manifest.version}` });
    return;
  }
  throw new Error("the log is empty");
});

test("the package-lock has the same version", () => {
  const lock = JSON.parse(read("package-lock.json")) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  expect([lock.version, lock.packages[""]?.version]).toEqual([manifest.version, manifest.version]);
});

test("no source file spells the version out", () => {
  const [major = "", minor = ""] = manifest.version.split(".");
  const spelled = new RegExp(String.raw`(?:throughline[\w-]*/|["'\`])${major}\.${minor}(?:\.\d+)?\b`);
  expect(spelled.test('"user-agent": "throughline/0.1"'.replace("0.1", `${major}.${minor}`))).toBe(true);
  expect(sourceFiles().filter((file) => spelled.test(sourceText(file)))).toEqual([]);
});

test("a bundle holds nothing of package.json but the version", () => {
  const dist = join(PACKAGE, "dist");
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  expect(files.length).toBeGreaterThan(10);
  const leaking = files.filter((name) => readFileSync(join(dist, name), "utf8").includes("oxlint"));
  expect(leaking).toEqual([]);
});
