/** A planted break whose place is gone proves nothing, so every one of them must match exactly once. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Planted {
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly tests: readonly string[];
  /** The beginning of the name of the test that must fail. */
  readonly named?: string;
}

/** The names of the tests in a file. */
function titlesIn(path: string): readonly string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/\(\s*"([^"]+)",\s*(?:async )?\(/g)].map(([, title = ""]) => title);
}

/** Whether a test of this name may be meant. A name made from a table has placeholders. */
function isOf(title: string, named: string): boolean {
  const pieces = title.split(/%[a-z]|\$\w+/);
  const [start = ""] = pieces;
  return pieces.some((piece) => piece.includes(named)) || (start.length > 10 && named.startsWith(start));
}

const lists = [
  ["break-laws/breaks.mjs", "breaks"],
  ["seeded-bugs/bugs.mjs", "bugs"],
] as const;

describe.each(lists)("scripts/%s", (file, name) => {
  test("matches the code exactly once with each break", async () => {
    const module = (await import(join(root, "scripts", file))) as Readonly<
      Record<string, readonly Planted[]>
    >;
    const list = module[name] ?? [];
    expect(list.length).toBeGreaterThan(20);
    const places = list.map(({ what, file: source, find }) => [
      what,
      readFileSync(join(root, source), "utf8").split(find).length - 1,
    ]);
    expect(places.filter(([, count]) => count !== 1)).toEqual([]);
    const unknown = list.filter(
      ({ tests, named }) =>
        named !== undefined && !tests.flatMap(titlesIn).some((title) => isOf(title, named)),
    );
    expect(unknown.map(({ what }) => what)).toEqual([]);
  });
});
