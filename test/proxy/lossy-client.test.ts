/**
 * A client that loses things, in front of strict servers (test/proxy/lossy-client). The judge is the client's own
 * bookkeeping: which thought was issued with which answer. THROUGHLINE_RUNS=n plays n worlds, FC_SEED chooses the seed.
 *
 * @module
 */

import { expect, test } from "vitest";

import { afterFile } from "../support/clean-up.ts";
import { runs, timeoutFor } from "../support/runs.ts";
import { play } from "./lossy-client/play.ts";
import { agent } from "./lossy-client/post.ts";
import { factsOf, failuresOf, tableOf } from "./lossy-client/print.ts";
import type { Tally } from "./lossy-client/tally.ts";
import type { TargetName } from "./lossy-client/targets.ts";

const QUICK_WORLDS = 8;
const PER_WORLD = 120;
const { numRuns, seed = 1 } = runs(QUICK_WORLDS);

afterFile(() => agent.destroy());

function run(target: TargetName, worlds: number): Promise<Tally> {
  return play({ seed, target, requests: worlds * PER_WORLD, perWorld: PER_WORLD });
}

/** Everything that must not happen, with a few examples of each. */
function failures(tally: Tally, only: RegExp): string {
  return failuresOf(tally, { kinds: 8, places: 2, only });
}

test("without a proxy nothing comes back, and strict servers refuse what a lossy client sends", async () => {
  const tally = await run("direct", 2);
  const all = (counter: "wrong" | "put-back"): number => tally.get("all", counter);
  expect({ wrong: all("wrong"), back: all("put-back") }).toEqual({ wrong: 0, back: 0 });
  expect(tally.get("all", "refused")).toBeGreaterThan(0);
  expect(failures(tally, /^(?!missing|REFUSED|prefix only)/)).toBe("");
});

test("the judge sees the wrong turns of a proxy that remembers by call id", async () => {
  const tally = await run("naive", 3);
  expect(tally.get("all", "wrong")).toBeGreaterThan(0);
  expect(tally.facts.get("WRONG of another conversation") ?? 0).toBeGreaterThan(0);
});

test("observed, every request arrives as it was sent", async () => {
  const tally = await run("observe", 2);
  const all = (counter: "wrong" | "put-back" | "healed"): number => tally.get("all", counter);
  expect({ wrong: all("wrong"), back: all("put-back"), healed: all("healed") }).toEqual({
    wrong: 0,
    back: 0,
    healed: 0,
  });
  expect(failures(tally, /^(?!missing|REFUSED|prefix only)/)).toBe("");
});

test(
  "repaired, no thought is in a wrong turn, nine of ten lost ones are back, and no refusal for history arrives",
  async () => {
    const tally = await run("repair", numRuns);
    process.stdout.write(`${tableOf(tally)}\n${factsOf(tally)}\n`);
    expect(failures(tally, /^WRONG/)).toBe("");
    expect(failures(tally, /^REFUSED/)).toBe("");
    const restorable = tally.get("all", "restorable");
    const back = tally.get("all", "put-back") + tally.get("all", "twins");
    expect(back / restorable).toBeGreaterThanOrEqual(0.9);
    // What nobody asked for: visible changes before a refusal, other bytes for the same request, other answers.
    expect(failures(tally, /^(?!missing|REFUSED|WRONG|prefix only)/)).toBe("");
  },
  timeoutFor(QUICK_WORLDS),
);
