import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { createFileScratch } from "./file-scratch.ts";
import { ScratchReader } from "./scratch-reader.ts";

function setUp(): { readonly path: string; readonly take: () => readonly string[] } {
  const path = join(temporaryFolder(), "s.live");
  const reader = new ScratchReader(path);
  return { path, take: () => reader.take().rows };
}

test("rows come once; one that is not whole yet comes when it is", () => {
  const { path, take } = setUp();
  expect(take()).toEqual([]);
  appendFileSync(path, '"a"\n"ü😀');
  expect([take(), take()]).toEqual([['"a"'], []]);
  appendFileSync(path, '"\n"c"\n');
  expect([take(), take()]).toEqual([['"ü😀"', '"c"'], []]);
});

test("a file that was made anew is read from its beginning, however much it looks like the one before", () => {
  const { path, take } = setUp();
  // Without a breath in between: the system gives the same inode again, and its clock has not moved.
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

test("what stands in its place is not followed and not waited for", () => {
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

test("a long journal is read in pieces, and a row that has no end is passed over", () => {
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

test("a writer after one that was killed in a row does not lose its first row to the torn one", async () => {
  const { path, take } = setUp();
  writeFileSync(path, '"whole"\n"torn');
  expect(take()).toEqual(['"whole"']);
  const scratch = createFileScratch(path);
  scratch.write(['"next"']);
  expect(take()).toEqual(['"torn', '"next"']);
  expect(await scratch.rows()).toEqual(['"whole"', '"torn', '"next"']);
});
