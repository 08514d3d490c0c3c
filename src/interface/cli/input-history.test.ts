import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { openInputHistory } from "./input-history.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the next process finds the messages, readable only by the owner, whatever the umask and the mode were", () => {
  const file = join(folder, "new", "history.jsonl");
  const before = process.umask(0);
  try {
    const history = openInputHistory(file);
    for (const text of ["one", "two\nlines \u2028", "two\nlines \u2028", "  ", "three"]) history.add(text);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "new")).mode & 0o777).toBe(0o700);
    chmodSync(file, 0o644);
    history.add("four");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(before);
  }
  expect(openInputHistory(file).entries).toEqual(["one", "two\nlines \u2028", "three", "four"]);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(5);
});

test("a damaged, missing or long file does no other harm", () => {
  const file = join(folder, "history.jsonl");
  expect(openInputHistory(file).entries).toEqual([]);
  const lines = Array.from({ length: 1200 }, (_, at) => JSON.stringify(`m${at}`));
  writeFileSync(file, ["{broken", "42", ...lines, '"torn'].join("\n"));
  const { entries } = openInputHistory(file);
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([500, "m700", "m1199"]);
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(500);
  const nowhere = openInputHistory(join(file, "below-a-file.jsonl"));
  nowhere.add("kept in this process");
  expect(nowhere.entries).toEqual(["kept in this process"]);
});

test("a line cut off by a full disk or a kill does not swallow the next message", () => {
  const file = join(folder, "history.jsonl");
  writeFileSync(file, '"one"\n"tw');
  openInputHistory(file).add("three");
  expect(openInputHistory(file).entries).toEqual(["one", "three"]);
});
