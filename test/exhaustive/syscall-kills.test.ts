/**
 * SIGKILL by strace at every system call with which a session or a recovery touches its files: no acknowledged event is
 * lost, no tool runs twice, the next writer continues.
 */

import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { Tally } from "../support/runs.ts";
import { copyFolder, EXHAUSTIVE, PATIENCE_MS, someOf, twoAtOnce } from "./how-much.ts";
import { expectGoesOn, killFolder, runChild, type Said } from "./killed-fixture.ts";
import { type DiePoint, type KilledPlan, SESSION } from "./killed-plan.ts";

const tally = new Tally();
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  await emulator.close();
  tally.print(`kills at system calls (${EXHAUSTIVE ? "all" : "a sample"})`);
});

/** These only ever change the files of the log. */
const CHANGES = ["pwrite64", "fdatasync", "fsync", "ftruncate", "rename", "unlink", "mkdir"];
/** The process makes these all the time; only those on the session's files count. */
const ON_FILES = ["openat", "write", "close", "read", "fstat", "statx", "fchmod"];

const hasStrace = spawnSync("strace", ["-V"]).status === 0;
const MODELS = ["emu-reasoner", "emu-claude", "emu-deepseek"] as const;

interface Point {
  readonly call: string;
  readonly nth: number;
}

function planIn(folder: string, model: string, change: Partial<KilledPlan> = {}): KilledPlan {
  return {
    folder,
    baseUrl: emulator.baseUrl,
    model,
    prompts: ["What is the weather in Paris?", "What is the weather in Rome and Lima?", "Hello"],
    resume: false,
    effects: join(folder, "effects.txt"),
    ...change,
  };
}

const filter = (folder: string, call: string): readonly string[] =>
  CHANGES.includes(call)
    ? []
    : [folder, join(folder, `${SESSION}.jsonl`), join(folder, `${SESSION}.live`)].flatMap((path) => [
        "-P",
        path,
      ]);

/** How often one thread makes each call: strace counts each thread separately. */
async function pointsOf(makePlan: () => KilledPlan): Promise<readonly Point[]> {
  const points: Point[] = [];
  for (const calls of [CHANGES, ON_FILES]) {
    const plan = makePlan();
    const trace = join(killFolder(), "trace.txt");
    const order = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", `trace=${calls.join()}`];
    const { counts } = await runChild(plan, [...order, ...filter(plan.folder, calls[0] ?? "")]);
    expect(counts, "the golden run reached its end").toBeDefined();
    const made = new Map<string, number>();
    for (const [, thread, call] of readFileSync(trace, "latin1").matchAll(/^(\d+) +([a-z0-9]+)\(/gm))
      made.set(`${call} ${thread}`, (made.get(`${call} ${thread}`) ?? 0) + 1);
    for (const call of calls) {
      const most = Math.max(
        0,
        ...[...made].flatMap(([key, times]) => (key.startsWith(`${call} `) ? [times] : [])),
      );
      points.push(...Array.from({ length: most }, (_, index) => ({ call, nth: index + 1 })));
    }
  }
  return points;
}

const killAt = ({ call, nth }: Point, folder: string): readonly string[] => {
  const inject = `inject=${call}:signal=KILL:when=${nth}`;
  const order = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
  return [...order, ...filter(folder, call)];
};

describe.runIf(hasStrace)("a session continues after SIGKILL by strace", () => {
  test.each(EXHAUSTIVE ? MODELS : MODELS.slice(0, 1))(
    "%s: at every system call of a session of three turns",
    async (model) => {
      const points = await pointsOf(() => planIn(killFolder(), model));
      expect(points.length).toBeGreaterThan(50);
      tally.add("points of a session", points.length);
      await twoAtOnce(someOf(points.length, 3), async (index) => {
        const point = points[index] as Point;
        const plan = planIn(killFolder(), model);
        const said = await runChild(plan, killAt(point, plan.folder));
        count(point, said, "session");
        await expectGoesOn(plan, said, emulator);
      });
      expect(tally.get("killed"), "a sweep that kills nothing must not pass").toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );

  const LEFT: readonly (readonly [string, DiePoint])[] = [
    ["a tool had begun", { at: "tool", nth: 1, when: "before" }],
    ["a tool had taken effect", { at: "tool", nth: 2, when: "after" }],
    ["a write was torn", { at: "write", nth: 6, bytes: 300 }],
    ["a result was not written", { at: "write", nth: 8, bytes: 0 }],
  ];
  test.each(EXHAUSTIVE ? LEFT : LEFT.slice(0, 1))(
    "at every system call of the recovery of a log in which %s, with a torn tail",
    async (_name, die) => {
      const left = killFolder();
      const first = await runChild(planIn(left, "emu-reasoner", { die }));
      appendFileSync(join(left, `${SESSION}.jsonl`), '{"v":1,"seq":');
      const copy = (): KilledPlan => {
        const folder = killFolder();
        copyFolder(left, folder);
        return planIn(folder, "emu-reasoner", { resume: true });
      };
      const points = await pointsOf(copy);
      expect(points.length).toBeGreaterThan(15);
      tally.add("points of a recovery", points.length);
      await twoAtOnce(someOf(points.length, 3), async (index) => {
        const point = points[index] as Point;
        const plan = copy();
        const said = await runChild(plan, killAt(point, plan.folder));
        count(point, said, "recovery");
        await expectGoesOn(plan, { ...said, events: [...first.events, ...said.events] }, emulator);
      });
    },
    PATIENCE_MS,
  );
});

/** Counts a run. One that was not killed needed one call less than the golden one. */
function count({ call }: Point, said: Said, of: string): void {
  tally.add(said.counts === undefined ? `killed at ${call}, ${of}` : `not reached: ${call}, ${of}`);
  if (said.counts === undefined) tally.add("killed");
}
