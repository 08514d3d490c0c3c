/**
 * A log of 3 GiB, which no version of Node reads at once: every command says so and leaves it alone, and it can be
 * found and removed. The file is sparse: it takes no disk space.
 */

import { mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, newPlace, type Place, run } from "./harness.ts";

const BYTES = 3 * 2 ** 30;

function withLargeLog(): { readonly place: Place; readonly file: string } {
  const place = newPlace();
  place.damaged = true;
  mkdirSync(place.sessions, { recursive: true, mode: 0o700 });
  const file = join(place.sessions, "large.jsonl");
  writeFileSync(file, '{"v":1,"seq":0,"type":"session_start"}\n', { mode: 0o600 });
  truncateSync(file, BYTES);
  return { place, file };
}

test.each([
  "sessions show large",
  "sessions export large",
  "sessions rename large title",
  "sessions erase large --pattern sk-x+",
  "inspect large",
  "tree large",
  "check large",
  "check FILE",
  "repair large",
  "repair FILE",
  "sessions import FILE",
  "fork large",
  "undo large",
  "retry large",
  "compact large",
  "-p hello -r large",
  "-p hello -c",
])("%s says that the log is too large, and touches nothing", async (words) => {
  const { place, file } = withLargeLog();
  const { env } = await emulatorOf();
  const args = words.split(" ").map((word) => (word === "FILE" ? file : word));
  const ran = await run(place, args, { env });
  expect(ran.code).toBe(2);
  expect(ran.err).toContain("too large to open: it has 3072.0 MiB");
  expect(ran.err).not.toMatch(/ERR_|RangeError|\n\s+at /);
  expect(statSync(file).size).toBe(BYTES);
});

test("lists, statistics, doctor and search report the large log and continue with the others", async () => {
  const { place } = withLargeLog();
  const { env } = await emulatorOf();
  expect(await run(place, ["-p", "hello"], { env })).toMatchObject({ code: 0 });
  for (const args of [
    ["sessions", "list", "--json"],
    ["sessions", "search", "hello"],
    ["stats"],
    ["doctor"],
  ]) {
    const { out, err } = await run(place, args, { env });
    expect([args, `${out}${err}`]).toEqual([args, expect.stringContaining("too large to open")]);
    expect(`${out}${err}`).not.toMatch(/ERR_|RangeError|\n\s+at /);
  }
});

test("the large log can be found and removed without being read", async () => {
  const { place, file } = withLargeLog();
  expect(await run(place, ["sessions", "path", "large"])).toMatchObject({ code: 0, out: `${file}\n` });
  expect(await run(place, ["sessions", "rm", "large", "--yes"])).toMatchObject({ code: 0 });
  expect(statSync(file, { throwIfNoEntry: false })).toBe(undefined);
});
