import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { replaceFile, writeFilePieces } from "./replace-file.ts";

const UUID = "00000000-0000-4000-8000-000000000000";
/** No process has this number: it is above the kernel's maximum. */
const DEAD = 4_194_305;

test("a replaced file keeps its mode, and nothing is left next to it", () => {
  const folder = temporaryFolder();
  const path = join(folder, "a");
  writeFileSync(path, "old", { mode: 0o640 });
  replaceFile(path, "new");
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("files left by a dead process are removed, those of a living or unknown one are not", () => {
  const folder = temporaryFolder();
  const left = (pid: number): string => join(folder, `.throughline-${pid}-${UUID}.tmp`);
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const pid of [DEAD, DEAD + 1, process.pid]) writeFileSync(left(pid), "half");
  for (const pid of [DEAD, process.pid]) utimesSync(left(pid), longAgo, longAgo);
  replaceFile(join(folder, "a"), "new");
  expect([DEAD, DEAD + 1, process.pid].map((pid) => existsSync(left(pid)))).toEqual([false, true, true]);
});

test("a new file never overwrites another, and a stop between two chunks leaves nothing", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "a");
  const pieces = [Buffer.from("one "), Buffer.from("two")];
  const stop = new AbortController();
  const told: number[] = [];
  await expect(
    writeFilePieces(path, pieces, {
      how: "new",
      signal: stop.signal,
      onProgress: (done) => {
        told.push(done);
        stop.abort();
      },
    }),
  ).rejects.toMatchObject({ code: "stopped" });
  expect(told).toEqual([4]);
  expect(readdirSync(folder)).toEqual([]);
  await writeFilePieces(path, pieces, { how: "new" });
  expect(readFileSync(path, "utf8")).toBe("one two");
  await expect(writeFilePieces(path, [Buffer.from("x")], { how: "new" })).rejects.toMatchObject({
    code: "EEXIST",
  });
  await writeFilePieces(path, [Buffer.from("x")], { how: "over" });
  expect(readFileSync(path, "utf8")).toBe("x");
  expect(readdirSync(folder)).toEqual(["a"]);
});
