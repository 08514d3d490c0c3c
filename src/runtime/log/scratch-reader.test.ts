import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { FileScratch } from "./file-scratch.ts";
import { ScratchReader } from "./scratch-reader.ts";

function setUp(): { readonly path: string; readonly take: () => readonly string[] } {
  const path = join(temporaryFolder(), "s.live");
  const reader = new ScratchReader(path);
  return { path, take: () => reader.take().rows };
}

test("each row is returned once; an incomplete one is returned when it is complete", () => {
  const { path, take } = setUp();
  expect(take()).toEqual([]);
  appendFileSync(path, '"a"\n"ü😀');
  expect([take(), take()]).toEqual([['"a"'], []]);
  appendFileSync(path, '"\n"c"\n');
  expect([take(), take()]).toEqual([['"ü😀"', '"c"'], []]);
});

test("a recreated file is read from its beginning, however similar it is to the one before", () => {
  const { path, take } = setUp();
  // Recreated at once, so that the system reuses the inode and its clock has not moved.
  for (let round = 0; round < 200; round += 1) {
    const row = `["rsp_${round}"]`;
    writeFileSync(path, `${row}\n`);
    expect(take()).toEqual([row]);
    rmSync(path);
    if (round % 2 === 0) expect(take()).toEqual([]);
  }
  writeFileSync(path, "1\n2\n3\n");
  expect(take()).toEqual(["1", "2", "3"]);
  truncateSync(path, 2);
  expect(take()).toEqual(["1"]);
});

test("a link or pipe in place of the journal is neither followed nor waited for", () => {
  const { path, take } = setUp();
  writeFileSync(`${path}.other`, "1\n");
  symlinkSync(`${path}.other`, path);
  expect(take()).toEqual([]);
  rmSync(path);
  mkdirSync(path);
  expect(take()).toEqual([]);
  rmSync(path, { recursive: true });
  if (process.platform !== "win32") {
    spawnSync("mkfifo", [path]);
    expect(take()).toEqual([]);
    rmSync(path);
  }
  writeFileSync(path, "2\n");
  expect(take()).toEqual(["2"]);
});

test("a long journal is read in chunks, and a row without an end is skipped", () => {
  const { path } = setUp();
  const reader = new ScratchReader(path);
  const row = JSON.stringify("x".repeat(1000));
  writeFileSync(path, `${row}\n`.repeat(6000));
  const first = reader.take();
  const second = reader.take();
  expect([first.more, second.more, first.rows.length + second.rows.length]).toEqual([true, false, 6000]);
  rmSync(path);
  writeFileSync(path, `${"y".repeat(5 * 1024 * 1024)}\n1\n`);
  const rows = [reader.take(), reader.take()].flatMap((one) => one.rows);
  expect(rows.at(-1)).toBe("1");
});

test("after a writer was killed in the middle of a row, the next one does not lose its first row", async () => {
  const { path, take } = setUp();
  writeFileSync(path, '"whole"\n"torn');
  expect(take()).toEqual(['"whole"']);
  const scratch = new FileScratch(path);
  scratch.write(['"next"']);
  expect(take()).toEqual(['"torn', '"next"']);
  expect(await scratch.rows()).toEqual(['"whole"', '"torn', '"next"']);
});

test("one file serves all responses of a writer; it is emptied after each and removed at the end", async () => {
  const { path, take } = setUp();
  const scratch = new FileScratch(path);
  scratch.clear();
  expect(existsSync(path)).toBe(false);
  const inodes = new Set<number>();
  for (const round of [1, 2, 3]) {
    scratch.write([`["rsp_${round}"]`]);
    expect(take()).toEqual([`["rsp_${round}"]`]);
    inodes.add(statSync(path).ino);
    scratch.clear();
    expect([await scratch.rows(), take()]).toEqual([[], []]);
  }
  expect(inodes.size).toBe(1);
  scratch.close();
  expect(existsSync(path)).toBe(false);
});

test("rows of a response that did not end stay for the next writer, which removes them", async () => {
  const { path } = setUp();
  const first = new FileScratch(path);
  first.write(["1"]);
  first.close();
  const second = new FileScratch(path);
  expect(await second.rows()).toEqual(["1"]);
  second.clear();
  expect(existsSync(path)).toBe(false);
});

test("a file with another name is not emptied", () => {
  const { path } = setUp();
  writeFileSync(`${path}.other`, "precious\n");
  linkSync(`${path}.other`, path);
  const scratch = new FileScratch(path);
  scratch.write(["1"]);
  scratch.clear();
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(`${path}.other`, "utf8")).toContain("precious");
});
