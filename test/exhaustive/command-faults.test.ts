/**
 * A system call with which a command touches a file fails: the disk has an error, is full or read-only, too many files
 * are open. The command succeeds anyway, or reports the problem with a code. Earlier files are intact, a result is
 * whole or missing, and the command succeeds when run again.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { messageOf } from "../../src/base/support/index.ts";
import { Tally } from "../support/runs.ts";
import { type Case, LOOKS, WRITES } from "./command-cases.ts";
import { type Home, makeHome, withCopy } from "./command-fixture.ts";
import { expectGoesOn, leftIn } from "./command-judge.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf, twoAtOnce } from "./how-much.ts";
import { changesFiles, failAt, type Hit, hasStrace, type Point, pointsOf } from "./system-calls.ts";

const tally = new Tally();
let before: Home;
beforeAll(async () => {
  before = await makeHome();
});
afterAll(() => tally.print(`faults of the disk under commands (${EXHAUSTIVE ? "all" : "a sample"})`));

interface Fault {
  readonly error: string;
  /** Whether all later calls fail too, as on a disk that is full or gone. If false, only this one fails. */
  readonly lasting: boolean;
}

/**
 * EIO once, and one other error, in rotation. A call on a file whose name is not known beforehand cannot keep failing,
 * and an interrupted call is retried, forever if need be.
 */
function faultsOf({ call, path }: Point, index: number): readonly Fault[] {
  const others = OTHERS[call] ?? ["ESTALE"];
  const error = others[index % others.length] ?? "EIO";
  return [
    { error: "EIO", lasting: false },
    { error, lasting: error !== "EINTR" && (path !== undefined || changesFiles(call)) },
  ];
}

const FULL = ["ENOSPC", "EDQUOT", "EROFS", "EIO"];

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  openat: ["EMFILE", "ENOSPC", "EROFS", "ESTALE", "EINTR"],
  read: ["EIO", "ESTALE", "EINTR", "EISDIR"],
  write: FULL,
  pwrite64: FULL,
  fsync: FULL,
  fdatasync: FULL,
  ftruncate: ["EROFS", "EIO"],
  rename: FULL,
  link: [...FULL, "EPERM", "EMLINK"],
  mkdir: FULL,
  unlink: ["EROFS", "EIO", "EBUSY"],
  rmdir: ["EROFS", "EIO", "EBUSY"],
  chmod: ["EROFS", "EPERM"],
  fchmod: ["EROFS", "EPERM"],
};

/** One line with a code, no stack trace, no signal. */
function expectTold({ code, err, out }: Hit): void {
  expect(code, err).toEqual(expect.any(Number));
  expect(`${err}${out}`).not.toMatch(/^\s+at .*[(:]|node:internal|\[internal\]|Node\.js v/m);
  if (code !== 0) expect(err).toMatch(/^throughline: .*\[[a-z]+(?:_[a-z]+)+\]/m);
}

async function expectHolds(one: Case, point: Point, fault: Fault, home: Home): Promise<void> {
  const hit = await failAt(home, one, point, fault);
  tally.add(hit.reached ? `failed: ${one.name}` : `not reached: ${point.call}`);
  if (hit.reached) tally.add("failed");
  expectTold(hit);
  if (leftIn(home).length > 0) tally.add("left something for the next writer");
  const wasDone = await expectGoesOn(one, home, before);
  if (hit.code === 0) expect(wasDone, "it said that it was done").toBe(true);
  else if (/nothing was (?:changed|written)/i.test(hit.err)) expect(wasDone, hit.err).toBe(false);
  tally.add(hit.code === 0 ? "harmless: it succeeded" : `reported, exit code ${hit.code}`);
}

const ALL = [...WRITES, ...LOOKS];
const SAMPLE: ReadonlySet<string> = new Set([
  "sessions import",
  "sessions erase --replace",
  "sessions export --force",
  "sessions rename",
  "config set",
  "config trust",
  "emulator --record",
  "sessions list",
  "sessions show s",
]);

describe.runIf(hasStrace)("files stay intact if a system call fails", () => {
  test.each(EXHAUSTIVE ? ALL : ALL.filter(({ name }) => SAMPLE.has(name)))(
    "any of $name",
    async (one) => {
      const points = await pointsOf(before, one);
      expect(points.length).toBeGreaterThan(0);
      tally.add("points", points.length);
      const cases = points.flatMap((point, index) =>
        faultsOf(point, index).map((fault) => ({ point, fault })),
      );
      // Report all of them: one fault seldom occurs alone.
      const violations: string[] = [];
      await twoAtOnce(
        someOf(cases.length, 4).map((index) => cases[index] as (typeof cases)[number]),
        async ({ point, fault }) => {
          try {
            await withCopy(before, (home) => expectHolds(one, point, fault, home));
          } catch (error) {
            violations.push(`${JSON.stringify({ ...point, ...fault })}: ${messageOf(error)}`);
          }
        },
      );
      expect(violations).toEqual([]);
      expect(
        tally.get(`failed: ${one.name}`),
        "a sweep in which nothing fails must not pass",
      ).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
