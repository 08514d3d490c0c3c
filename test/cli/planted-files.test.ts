/**
 * A world-writable folder, and an attacker who knew the name: a file planted there first (a link, a second hard link, a
 * pipe or a folder) is never written through, never waited for, and reported with a code.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { afterFile } from "../support/clean-up.ts";
import { emulatorOf, expectNoTrace, newPlace, type Place, run } from "./harness.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const KINDS = ["a link to a file", "a link to nowhere", "a second name", "a pipe", "a folder"] as const;
type Kind = (typeof KINDS)[number];

interface Shared {
  readonly place: Place;
  readonly path: string;
  readonly precious: string;
}

/** Planted by another user, if the tests can act as another user. */
function planted(kind: Kind, name: string): Shared {
  const place = newPlace();
  const folder = mkdtempSync(join(tmpdir(), "throughline-shared-"));
  afterFile(() => execFileSync("rm", ["-rf", folder]));
  const precious = place.write("precious", "precious");
  const path = join(folder, name);
  if (kind === "a link to a file") symlinkSync(precious, path);
  else if (kind === "a link to nowhere") symlinkSync(join(place.work, "made"), path);
  else if (kind === "a second name") linkSync(precious, path);
  else if (kind === "a pipe") execFileSync("mkfifo", [path]);
  else mkdirSync(path);
  if (isRoot && kind !== "a second name") lchownSync(path, NOBODY, NOBODY);
  chmodSync(folder, 0o1777);
  return { place, path, precious };
}

function expectUntouched({ place, precious }: Shared): void {
  expect(readFileSync(precious, "utf8")).toBe("precious");
  expect(readdirSync(place.work)).not.toContain("made");
}

describe.each(KINDS)("%s planted there first", (kind) => {
  test("is refused by --trace and --record", async () => {
    for (const flag of ["--trace", "--record"]) {
      const shared = planted(kind, "run.jsonl");
      const ran = await run(shared.place, ["-m", "emulator/emu-reasoner", flag, shared.path, "-p", "hi"]);
      expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("[file_exists]") });
      expectUntouched(shared);
    }
  });

  test("is refused by emulator --record", async () => {
    const shared = planted(kind, "record.jsonl");
    const ran = await run(shared.place, ["emulator", "--port", "0", "--record", shared.path]);
    expect(ran).toMatchObject({ code: 2, out: "", err: expect.stringContaining("[record_unwritable]") });
    expectNoTrace(ran);
    expectUntouched(shared);
  });

  test("is replaced or refused by -o of an answer", async () => {
    const shared = planted(kind, "answer.txt");
    const { env } = await emulatorOf();
    const ran = await run(shared.place, ["-o", shared.path, "-p", "hi"], { env });
    expectNoTrace(ran);
    if (ran.code === 0) expect(lstatSync(shared.path).isFile()).toBe(true);
    else expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("[output_unwritable]") });
    expectUntouched(shared);
  });

  test("is refused by sessions export -o, and never written through with --force", async () => {
    const shared = planted(kind, "session.jsonl");
    await run(shared.place, ["-m", "emulator/emu-reasoner", "-p", "hi"]);
    const words = ["sessions", "export", "--last", "-o", shared.path];
    const first = await run(shared.place, words);
    expect(first).toMatchObject({ code: 2, err: expect.stringMatching(/\[file_(?:exists|unwritable)\]/) });
    const forced = await run(shared.place, [...words, "--force"]);
    if (forced.code === 0) expect(lstatSync(shared.path).mode & 0o777).toBe(0o600);
    expectNoTrace(forced);
    expectUntouched(shared);
  });

  test("is never written through by the history of typed lines", async () => {
    const shared = planted(kind, "x");
    mkdirSync(shared.place.home, { recursive: true });
    const { openInputHistory } = await import("../../src/interface/cli/input-history.ts");
    const history = openInputHistory(shared.path);
    expect(history.entries).toEqual([]);
    history.add("a secret that was typed");
    expectUntouched(shared);
  });
});

test.runIf(isRoot)("another user's folder or file does not decide who can read our output", async () => {
  const shared = planted("a folder", "out");
  const evaluation = await run(shared.place, ["eval", "--out", shared.path, "--models", "none", "x.yaml"]);
  expect(evaluation.code).toBe(2);
  const theirs = join(shared.path, "session.jsonl");
  writeFileSync(theirs, "theirs");
  chownSync(theirs, NOBODY, NOBODY);
  chmodSync(theirs, 0o666);
  await run(shared.place, ["-m", "emulator/emu-reasoner", "-p", "hi"]);
  const ran = await run(shared.place, ["sessions", "export", "--last", "--force", "-o", theirs]);
  expect(ran.code).toBe(0);
  const { mode, uid } = statSync(theirs);
  expect([mode & 0o777, uid]).toEqual([0o600, 0]);
});

test.runIf(isRoot)("eval does not write into another user's folder", async () => {
  const shared = planted("a folder", "out");
  const scenario = shared.place.write(
    "one.json",
    JSON.stringify({ name: "one", turns: [{ send: "hi" }], models: ["emulator/emu-reasoner"] }),
  );
  const ran = await run(shared.place, ["eval", scenario, "--out", shared.path]);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("it belongs to another user") });
  expect(readdirSync(shared.path)).toEqual([]);
});
