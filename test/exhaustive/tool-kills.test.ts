/**
 * SIGKILL around the start and the finish of tools: in every write related to a call, after any share of its bytes,
 * before and after every sync, before and after the effect itself. No tool runs twice, and the session continues.
 */

import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { Tally } from "../support/runs.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf, twoAtOnce } from "./how-much.ts";
import { effectsOf, expectGoesOn, killFolder, runChild } from "./killed-fixture.ts";
import type { DiePoint, KilledPlan } from "./killed-plan.ts";

const tally = new Tally();
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  await emulator.close();
  tally.print(`kills around tools (${EXHAUSTIVE ? "all" : "a sample"})`);
});

const MODELS = ["emu-reasoner", "emu-claude", "emu-deepseek"] as const;
/** Shares of the bytes of one write. */
const SHARES = 64;

function planOf(model: string, die?: DiePoint): KilledPlan {
  const folder = killFolder();
  return {
    folder,
    baseUrl: emulator.baseUrl,
    model,
    prompts: ["What is the weather in Rome and Lima?"],
    resume: false,
    effects: join(folder, "effects.txt"),
    ...(die === undefined ? {} : { die }),
  };
}

test.each(MODELS)(
  "%s: no kill makes a tool run twice",
  async (model) => {
    const golden = planOf(model);
    const { writes, counts } = await runChild(golden);
    expect(effectsOf(golden)).toHaveLength(2);
    const ofTools = writes.filter(({ types }) =>
      types.some((type) => ["tool_call", "permission_decision", "tool_start", "tool_result"].includes(type)),
    );
    expect(ofTools.length).toBeGreaterThan(2);
    const points: readonly DiePoint[] = [
      ...ofTools.flatMap(({ nth, bytes }) =>
        Array.from({ length: SHARES + 1 }, (_, share): DiePoint => ({
          at: "write",
          nth,
          bytes: Math.floor((bytes * share) / SHARES),
        })),
      ),
      ...Array.from({ length: counts?.sync ?? 0 }, (_, index) => index + 1).flatMap((nth): DiePoint[] => [
        { at: "sync", nth, when: "before" },
        { at: "sync", nth, when: "after" },
      ]),
      ...[1, 2].flatMap((nth): DiePoint[] => [
        { at: "tool", nth, when: "before" },
        { at: "tool", nth, when: "after" },
      ]),
    ];
    await twoAtOnce(someOf(points.length, 4), async (index) => {
      const die = points[index] as DiePoint;
      const plan = planOf(model, die);
      const said = await runChild(plan);
      // A sweep that killed nothing must not pass.
      expect(said.counts, JSON.stringify(die)).toBeUndefined();
      tally.add(`kills at a ${die.at}`);
      tally.add("kills");
      await expectGoesOn(plan, said, emulator);
    });
  },
  PATIENCE_MS,
);
