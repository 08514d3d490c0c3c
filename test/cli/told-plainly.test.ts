/** Small failures that used to be hidden, or were told in words that lead nowhere. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { CLI, environment, expectNoTrace, expectProblem, newPlace, run, treeOf } from "./harness.ts";

test("a search for nothing is refused", async () => {
  const place = newPlace();
  expectProblem(await run(place, ["sessions", "search", " "]), 2, "usage");
});

test.skipIf(!existsSync("/dev/full"))(
  "output that a full disk does not take is a failure that is told",
  () => {
    const place = newPlace();
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", `"$0" "$1" models > /dev/full`, process.execPath, CLI],
      {
        cwd: place.work,
        env: environment(place),
        encoding: "utf8",
      },
    );
    expect(status).toBe(1);
    expect(stderr).toBe("throughline: the output cannot be written: the disk is full\n");
  },
);

test.skipIf(!existsSync("/proc/self"))("doctor finds that the sessions' folder cannot be made", async () => {
  const ran = await run(newPlace(), ["doctor", "--offline"], { env: { THROUGHLINE_HOME: "/proc/nowhere" } });
  expect(ran.code).not.toBe(0);
  expect(ran.out).toContain("/proc/nowhere/sessions cannot be made");
  expectNoTrace(ran);
});

test("a path through a file is told in words", async () => {
  const place = newPlace();
  expect((await run(place, ["-p", "hi", "-m", "emulator/emu-reasoner"])).code).toBe(0);
  const file = place.write("plain.txt", "x");
  const ran = await run(place, ["sessions", "export", "--last", "-o", `${file}/x`]);
  expect(ran.code).toBe(2);
  expect(ran.err).toContain("a part of its path is a file");
  expect(ran.err).not.toContain("ENOTDIR");
});

test("help and version ask nobody and make no session", async () => {
  const place = newPlace();
  const said = async (...args: readonly string[]): Promise<string> => {
    const ran = await run(place, args);
    expect(ran).toMatchObject({ code: 0, err: "" });
    return ran.out;
  };
  expect(await said("help")).toBe(await said("--help"));
  expect(await said("version")).toBe(await said("--version"));
  expect(await said("help", "sessions", "export")).toBe(await said("sessions", "export", "--help"));
  expect(treeOf(place.home)).toEqual([]);
});
