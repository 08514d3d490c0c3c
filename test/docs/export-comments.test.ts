import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, test } from "vitest";

import { descriptionOf, ENTRIES, examplesOf, publicExports } from "../support/public-exports.ts";
import { read, root } from "./documents.ts";

const all = publicExports();

test("the entries are those of package.json", () => {
  const { exports } = JSON.parse(read("package.json")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const published = Object.entries(exports).filter(([, file]) => file.endsWith(".js"));
  expect(
    Object.fromEntries(
      published.map(([name, file]) => [
        name.replace(/^\./, "throughline"),
        file.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"),
      ]),
    ),
  ).toEqual(ENTRIES);
});

test("every public export has a description at its declaration: one that ends like a sentence", () => {
  const wrong = all.filter((one) => !/^[^a-z][\s\S]*[.:…)`]$/.test(descriptionOf(one)));
  expect(wrong.map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
});

test("every member of an options interface has a comment", () => {
  const options = all.filter(({ kind, name }) => kind === "interface" && /Options$|Limits$/.test(name));
  const without = options.flatMap(({ name, file }) => {
    const body =
      new RegExp(`^export interface ${name}\\b[^{]*\\{\n([\\s\\S]*?)^\\}`, "m").exec(read(file))?.[1] ?? "";
    const lines = body.split("\n");
    return lines
      .filter(
        (line, at) => /^ {2}(?:readonly )?\w+\??[:(<]/.test(line) && !(lines[at - 1] ?? "").endsWith("*/"),
      )
      .map((line) => `${name}: ${line.trim()}`);
  });
  expect(options.length).toBeGreaterThan(20);
  expect(without).toEqual([]);
});

test("no value of an entry is missed", async () => {
  for (const [entry, file] of Object.entries(ENTRIES)) {
    const values = Object.keys(
      (await import(/* @vite-ignore */ pathToFileURL(join(root, file)).href)) as object,
    );
    expect(all.filter((one) => one.entry === entry).map(({ name }) => name)).toEqual(
      expect.arrayContaining(values),
    );
  }
});

test("the values that programs use most have an example", () => {
  const used =
    "createAgent tool openai anthropic openaiChat emulator modelFrom fileStore memoryStore builtinTools startServer connect startEmulator";
  const without = used.split(" ").filter((name) => {
    const found = all.find((one) => one.name === name);
    return found === undefined || examplesOf(found).length === 0;
  });
  expect(without).toEqual([]);
});

describe("the search for declarations", () => {
  const files: Readonly<Record<string, string>> = {
    "src/a.ts": 'export { one, type Two as Three } from "./b.ts";\nexport interface Four {}\n',
    "src/b.ts":
      "/** One.\n *\n * @example\n * ```ts\n * one();\n * ```\n */\nexport function one(): void {}\n\n/** Of the module. */\n\nexport type Two = 1;\n",
  };
  const found = publicExports({ a: "src/a.ts" }, (file) => files[file] ?? "");

  test("follows lists and renamed exports, and finds no comment where there is none", () => {
    expect(found.map(({ name, file }) => [name, file])).toEqual([
      ["one", "src/b.ts"],
      ["Three", "src/b.ts"],
      ["Four", "src/a.ts"],
    ]);
    expect(found.map(descriptionOf)).toEqual(["One.", "", ""]);
    expect(found.flatMap(examplesOf)).toEqual(["one();\n"]);
  });

  test("throws if an export has no declaration", () => {
    expect(() =>
      publicExports({ a: "src/a.ts" }, (file) => (file === "src/b.ts" ? "" : (files[file] ?? ""))),
    ).toThrow("src/b.ts does not declare one");
  });
});
