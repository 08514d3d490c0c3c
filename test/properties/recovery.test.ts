import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import type { EventDraft } from "../../src/base/events/index.ts";
import { Fold } from "../../src/runtime/fold/index.ts";
import { closeTurn, findOpenTurn } from "../../src/runtime/turn/index.ts";
import { conversations } from "../support/conversation.ts";
import { bodyText, practiceSettings, renderNext, stamped, userMessage } from "../support/next-request.ts";
import { onPath, play } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 20;
const tally = new Tally();
afterAll(() => tally.print("recovery"));

test(
  "a recovered log gives the same next request, byte for byte, as the log that a crash left",
  async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ maxActions: 7 }), async (conversation) => {
        const { logs, baseUrl } = await play(conversation);
        for (const log of logs) {
          for (let length = 1; length <= log.length; length += 1) {
            const prefix = log.slice(0, length);
            tally.add("prefixes");
            const closing = closingOf(prefix);
            if (closing.length === 0) continue;
            tally.add("prefixes with an open turn");
            for (const draft of closing) tally.add(`recorded: ${kindOf(draft)}`);
            const inForce = onPath(prefix).findLast((event) => event.type === "settings")?.settings;
            for (const settings of [
              inForce ?? practiceSettings(practiceModel("home", baseUrl), conversation.replay),
              practiceSettings(practiceModel("other", baseUrl), conversation.replay),
            ]) {
              const before = renderNext(stamped(prefix, [userMessage("Thanks")]), settings);
              const after = renderNext(stamped(prefix, [...closing, userMessage("Thanks")]), settings);
              expect(bodyText(after)).toBe(bodyText(before));
              expect([after.bodyHash, after.prefixHash]).toEqual([before.bodyHash, before.prefixHash]);
            }
            // Once recovered, there is nothing left to recover.
            expect(closingOf(stamped(prefix, closing))).toEqual([]);
          }
        }
      }),
      runs(QUICK),
    );
    expect(tally.get("prefixes with an open turn")).toBeGreaterThan(QUICK);
    expect(tally.get("recorded: tool_result outcome_unknown")).toBeGreaterThan(0);
    expect(tally.get("recorded: tool_result not_executed")).toBeGreaterThan(0);
  },
  timeoutFor(QUICK),
);

function closingOf(events: Parameters<typeof findOpenTurn>[0]): readonly EventDraft[] {
  const fold = new Fold();
  fold.add(events);
  const open = findOpenTurn(events, fold);
  return open === undefined ? [] : closeTurn(open, []);
}

function kindOf(draft: EventDraft): string {
  return draft.type === "tool_result" ? `tool_result ${draft.status}` : draft.type;
}
