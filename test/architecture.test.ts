import { describe, expect, test } from "vitest";

import { FOLDERS, WINGS } from "./support/import-tables.ts";
import { importsOf, type SourceImport, sourceFiles } from "./support/source-imports.ts";

/** These put the parts together, so they may import any of them and are in no table. */
const COMPOSITION_ROOTS: ReadonlySet<string> = new Set([
  "src/index.ts",
  "src/inspect.ts",
  "src/interface/cli",
]);

/** These run in a browser: neither they nor anything they load, directly or indirectly, imports a `node:` module. */
const PURE = [
  "src/base/support",
  "src/base/events",
  "src/base/api",
  "src/runtime/fold",
  "src/runtime/facts",
  "src/runtime/rules",
  "src/diagnostics/check",
  "src/access/client",
  "src/proxy/marks",
  "src/interface/fragments",
  "src/interface/highlight",
  "src/interface/web",
];

/** `src/runtime/log/file-log.ts` -> `src/runtime/log`; `src/index.ts` and `src/emulator` are separate places. */
function placeOf(file: string): string {
  const parts = file.split("/");
  return parts[1] === "emulator" ? "src/emulator" : parts.slice(0, 3).join("/");
}

const wingOf = (place: string): string => place.split("/")[1] ?? "";
const folderOf = (place: string): string => place.split("/")[2] ?? "";

/** Imports from one place to another, without those of the composition roots. */
function crossings(): readonly SourceImport[] {
  return sourceFiles()
    .filter((file) => !COMPOSITION_ROOTS.has(placeOf(file)))
    .flatMap(importsOf)
    .filter(({ from, to }) => to.startsWith("src/") && placeOf(from) !== placeOf(to));
}

/** A table of the actual imports, in the shape of the tables above. */
function tableOf(rows: readonly string[], pairs: readonly (readonly [string, string])[]): object {
  return Object.fromEntries(
    rows.map((row) => [
      row,
      [...new Set(pairs.flatMap(([from, to]) => (from === row ? [to] : [])))].toSorted(),
    ]),
  );
}

/** The name in the table: the folder, if the row grants no more than that. */
function granted(wing: string, to: string): string {
  return WINGS[wing]?.includes(to) === true ? to : wingOf(`src/${to}`);
}

describe("the architecture", () => {
  test("has only the wings and the public entry at the top level of src", () => {
    const tops = new Set(sourceFiles().map((file) => file.split("/")[1] ?? ""));
    expect([...tops].toSorted()).toEqual([...Object.keys(WINGS), "index.ts", "inspect.ts"].toSorted());
  });

  test("has exactly the folders of its table in every wing", () => {
    for (const [wing, folders] of Object.entries(FOLDERS)) {
      const found = new Set(
        sourceFiles()
          .filter((file) => wingOf(file) === wing && !COMPOSITION_ROOTS.has(placeOf(file)))
          .map((file) => folderOf(placeOf(file))),
      );
      expect([...found].toSorted()).toEqual(Object.keys(folders).toSorted());
    }
  });

  test("has exactly the imports between wings that their table lists", () => {
    const between = crossings()
      .map(({ from, to }) => [wingOf(placeOf(from)), placeOf(to).replace("src/", "")] as const)
      .filter(([from, to]) => from !== wingOf(`src/${to}`));
    expect(
      tableOf(
        Object.keys(WINGS),
        between.map(([from, to]) => [from, granted(from, to)]),
      ),
    ).toEqual(WINGS);
  });

  test("has no cycle in the table of the wings", () => {
    const names = Object.keys(WINGS);
    for (const [wing, imported] of Object.entries(WINGS)) {
      const above = names.slice(0, names.indexOf(wing));
      for (const other of imported) expect(above).toContain(wingOf(`src/${other}`));
    }
  });

  test.for(Object.entries(FOLDERS))(
    "has exactly the imports between the folders of %s that their table lists",
    ([wing, folders]) => {
      const inside = crossings()
        .filter(({ from, to }) => wingOf(placeOf(from)) === wing && wingOf(placeOf(to)) === wing)
        .map(({ from, to }) => [folderOf(placeOf(from)), folderOf(placeOf(to))] as const);
      const sorted = Object.fromEntries(Object.entries(folders).map(([name, to]) => [name, to.toSorted()]));
      expect(tableOf(Object.keys(folders), inside)).toEqual(sorted);
    },
  );

  test("allows a folder to be entered only through its index.ts", () => {
    const around = sourceFiles()
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith("src/") && placeOf(from) !== placeOf(to))
      .filter(({ to }) => to !== `${placeOf(to)}/index.ts`);
    expect(around).toEqual([]);
  });

  test.for(PURE)("keeps node: modules out of %s", (folder) => {
    const files = sourceFiles().filter((file) => placeOf(file) === folder && !file.endsWith(".config.ts"));
    expect(files).not.toEqual([]);
    expect(nodeModulesReachedFrom(files)).toEqual([]);
  });

  test("is checked by a walk that does find node: modules", () => {
    expect(nodeModulesReachedFrom(["src/runtime/log/file-log.ts"])).not.toEqual([]);
  });
});

/** The `node:` modules that loading `files` loads, each with the file that imports it. */
function nodeModulesReachedFrom(files: readonly string[]): readonly string[] {
  const seen = new Set(files);
  const reached: string[] = [];
  for (const file of seen) {
    for (const { to, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      if (to.startsWith("node:")) reached.push(`${file} imports ${to}`);
      else if (/\.tsx?$/.test(to)) seen.add(to);
    }
  }
  return reached;
}
