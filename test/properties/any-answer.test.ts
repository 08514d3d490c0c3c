/**
 * Law 6 on random sessions: whatever the answers hold, wherever they break off, whichever model is next, and after a
 * retry, an edit or a crash, no request is refused or breaks our own rules, and the payloads of a whole answer go home.
 */

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { playSteps, steps } from "../support/any-answer/session.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import { StrictProvider } from "../support/strict-provider/strict-provider.ts";

const QUICK = 120;
const tally = new Tally();
let provider: StrictProvider;

beforeAll(async () => {
  provider = await StrictProvider.start();
});
afterAll(async () => {
  await provider.close();
  tally.print("any answer");
});

test(
  "whatever the answer was and wherever it broke off, every request is accepted, and whole answers go home",
  async () => {
    await fc.assert(
      fc.asyncProperty(steps(4), async (script) => {
        const { refusals, violations, afterwards, lost, expected, requests } = await playSteps(
          provider,
          script,
        );
        tally.add("sessions");
        tally.add("requests", requests);
        tally.add("payloads that must go home", expected);
        expect({
          refusals,
          violations,
          afterwards: afterwards
            .filter(({ status }) => status !== "completed")
            .map(({ status, error }) => [status, error?.message]),
          lost,
        }).toEqual({ refusals: [], violations: [], afterwards: [], lost: [] });
      }),
      runs(QUICK),
    );
    // A property that checked nothing must not pass.
    expect(tally.get("payloads that must go home")).toBeGreaterThan(0);
  },
  timeoutFor(QUICK),
);
