/**
 * SIGKILL at every system call with which a command touches files: earlier files are intact, a result is whole or
 * missing, the command succeeds when run again, and the next writer removes what the killed one left.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Tally } from "../support/runs.ts";
import { WRITES } from "./command-cases.ts";
import { type Home, makeHome, withCopy } from "./command-fixture.ts";
import { expectGoesOn, leftIn } from "./command-judge.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf, twoAtOnce } from "./how-much.ts";
import { hasStrace, killAt, type Point, pointsOf } from "./system-calls.ts";

const tally = new Tally();
let before: Home;
beforeAll(async () => {
  before = await makeHome();
});
afterAll(() => tally.print(`kills of commands at system calls (${EXHAUSTIVE ? "all" : "a sample"})`));

describe.runIf(hasStrace)("files stay intact after SIGKILL by strace", () => {
  test.each(EXHAUSTIVE ? WRITES : WRITES.slice(0, 3))(
    "at every system call of $name",
    async (one) => {
      const points = await pointsOf(before, one);
      expect(points.length).toBeGreaterThan(2);
      tally.add("points", points.length);
      const killAndJudge = async (point: Point, home: Home): Promise<void> => {
        const { killed, reached } = await killAt(home, one, point);
        const hit = killed && reached;
        tally.add(hit ? `killed: ${one.name}` : `not reached: ${point.call}`);
        if (hit) tally.add("killed");
        tally.add(leftIn(home).length > 0 ? "left something for the next writer" : "left nothing");
        const wasDone = await expectGoesOn(one, home, before);
        tally.add(wasDone ? "killed after the result was in place" : "killed before the result was in place");
      };
      await twoAtOnce(someOf(points.length, 2), (index) =>
        withCopy(before, (home) => killAndJudge(points[index] as Point, home)),
      );
      expect(tally.get(`killed: ${one.name}`), "a sweep that kills nothing must not pass").toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
