import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { conversations } from "../support/conversation.ts";
import { play } from "../support/play.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import {
  callsAreWhatWasMade,
  everyRequestIsAccepted,
  everyThoughtIsSent,
  itemsGoBackVerbatim,
  noTurnFailsForItsHistory,
  prefixIsStable,
  recallIsWhole,
  requestsCanBeRebuilt,
} from "./checks.ts";

const QUICK = 80;
const tally = new Tally();

afterAll(() => tally.print("random conversations"));

test(
  "in every conversation, whatever goes wrong, requests are accepted, thoughts go back whole and the prefix holds",
  async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ maxActions: 9 }), async (conversation) => {
        const played = await play(conversation);
        tally.add("conversations");
        everyRequestIsAccepted(played, tally);
        noTurnFailsForItsHistory(played, tally);
        everyThoughtIsSent(played, tally);
        recallIsWhole(played, tally);
        itemsGoBackVerbatim(played, tally);
        callsAreWhatWasMade(played, tally);
        prefixIsStable(played, tally);
        requestsCanBeRebuilt(played);
      }),
      runs(QUICK),
    );
    // A property that checked nothing must not pass.
    expect(tally.get("thoughts sent")).toBeGreaterThan(QUICK);
    expect(tally.get("prefix: compared and stable")).toBeGreaterThan(QUICK);
  },
  timeoutFor(QUICK),
);
