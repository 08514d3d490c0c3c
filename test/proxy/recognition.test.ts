import { expect, test } from "vitest";

import { runs } from "../support/runs.ts";
import { newTally, simulate } from "./recognition/simulate.ts";

test.each([true, false])(
  "no answer is taken for another one, and most are known again (all openings different: %s)",
  (unique) => {
    const tally = newTally();
    for (let seed = 1; seed <= runs(4).numRuns; seed += 1)
      simulate(seed * 7919 + (unique ? 1 : 0), 40, 15, tally, unique);
    expect(tally.examples).toEqual([]);
    expect({ wrong: tally.wrong, right: tally.right / tally.runs > 0.85 }).toEqual({ wrong: 0, right: true });
  },
);
