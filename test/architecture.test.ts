import { describe, expect, test } from "vitest";

import { FOLDERS, WINGS } from "./support/import-tables.ts";
import { importsOf, type SourceImport, sourceFiles } from "./support/source-imports.ts";

/** They put the parts together, so they may import any of them and stand in no table. */
const COMPOSITION_ROOTS: ReadonlySet<string> = new Set(["src/index.ts", "src/interface/cli"]);

/** They run in a browser: whatever they load, and whatever that loads, imports no `node:` module. */
const PURE = [
  "src/base/support",
  "src/base/events",
  "src/base/api",
  "src/runtime/fold",
  "src/runtime/facts",
  "src/runtime/rules",
  "src/diagnostics/check",
  "src/access/client",
  "src/interface/fragments",
  "src/interface/web",
];

/** `src/runtime/log/file-log.ts` -> `src/runtime/log`; `src/index.ts` and `src/emulator` are places of their own. */
function placeOf(file: string): string {
  const parts = file.split("/");
  return parts[1] === "emulator" ? "src/emulator" : parts.slice(0, 3).join("/");
}

const wingOf = (place: string): string => place.split("/")[1] ?? "";
const folderOf = (place: string): string => place.split("/")[2] ?? "";

/** Imports that lead from one place to another, those of the composition roots left out. */
function crossings(): readonly SourceImport[] {
  return sourceFiles()
    .filter((file) => !COMPOSITION_ROOTS.has(placeOf(file)))
    .flatMap(importsOf)
    .filter(({ from, to }) => to.startsWith("src/") && placeOf(from) !== placeOf(to));
}

/** A table of what is really imported, in the shape of the tables above. */
function tableOf(rows: readonly string[], pairs: readonly (readonly [string, string])[]): object {
  return Object.fromEntries(
    rows.map((row) => [
      row,
      [...new Set(pairs.flatMap(([from, to]) => (from === row ? [to] : [])))].toSorted(),
    ]),
  );
}

/** As the table names it: the folder, where the row grants no more than that. */
function granted(wing: string, to: string): string {
  return WINGS[wing]?.includes(to) === true ? to : wingOf(`src/${to}`);
}

describe("the architecture", () => {
  test("the top level of src is the wings and the public entry", () => {
    const tops = new Set(sourceFiles().map((file) => file.split("/")[1] ?? ""));
    expect([...tops].toSorted()).toEqual([...Object.keys(WINGS), "index.ts"].toSorted());
  });

  test("every wing holds exactly the folders of its table", () => {
    for (const [wing, folders] of Object.entries(FOLDERS)) {
      const found = new Set(
        sourceFiles()
          .filter((file) => wingOf(file) === wing && !COMPOSITION_ROOTS.has(placeOf(file)))
          .map((file) => folderOf(placeOf(file))),
      );
      expect([...found].toSorted()).toEqual(Object.keys(folders).toSorted());
    }
  });

  test("the wings import exactly what their table says", () => {
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

  test("the table of the wings has no cycle", () => {
    const names = Object.keys(WINGS);
    for (const [wing, imported] of Object.entries(WINGS)) {
      const above = names.slice(0, names.indexOf(wing));
      for (const other of imported) expect(above).toContain(wingOf(`src/${other}`));
    }
  });

  test.for(Object.entries(FOLDERS))(
    "the folders of %s import exactly what their table says",
    ([wing, folders]) => {
      const inside = crossings()
        .filter(({ from, to }) => wingOf(placeOf(from)) === wing && wingOf(placeOf(to)) === wing)
        .map(({ from, to }) => [folderOf(placeOf(from)), folderOf(placeOf(to))] as const);
      const sorted = Object.fromEntries(Object.entries(folders).map(([name, to]) => [name, to.toSorted()]));
      expect(tableOf(Object.keys(folders), inside)).toEqual(sorted);
    },
  );

  test("a folder is entered only through its index.ts", () => {
    const around = sourceFiles()
      .flatMap(importsOf)
      .filter(({ from, to }) => to.startsWith("src/") && placeOf(from) !== placeOf(to))
      .filter(({ to }) => to !== `${placeOf(to)}/index.ts`);
    expect(around).toEqual([]);
  });

  test.for(PURE)("%s reaches no node: module", (folder) => {
    const files = sourceFiles().filter((file) => placeOf(file) === folder && !file.endsWith(".config.ts"));
    expect(files).not.toEqual([]);
    expect(nodeModulesReachedFrom(files)).toEqual([]);
  });

  test("what the purity tests walk does find node: modules", () => {
    expect(nodeModulesReachedFrom(["src/runtime/log/file-log.ts"])).not.toEqual([]);
  });
});

/** `node:` modules that loading `files` loads, each with the file that asks for it. */
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
