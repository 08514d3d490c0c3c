import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import type { LoggedEvent, Settings } from "../../src/base/events/index.ts";
import { startEmulator } from "../../src/emulator/index.ts";
import { conversations } from "../support/conversation.ts";
import {
  bodyText,
  keyOf,
  practiceSettings,
  renderNext,
  stamped,
  userMessage,
  verdictOf,
} from "../support/next-request.ts";
import { onPath, play, sha256 } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 15;
const tally = new Tally();
afterAll(() => tally.print("every prefix of every log"));

/** Law 6: whatever event reached the log last, the session can continue, with any model. */
test(
  "for every prefix of every log, a judge that remembers nothing accepts the next request",
  async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ maxActions: 7, steady: true }), async (conversation) => {
        const { logs, baseUrl } = await play(conversation);
        const judge = await startEmulator();
        try {
          const asked = new Set<string>();
          for (const log of logs) {
            for (let length = 1; length <= log.length; length += 1) {
              const prefix = log.slice(0, length);
              tally.add("prefixes");
              for (const settings of targetsAt(prefix, baseUrl, conversation.replay)) {
                const events = stamped(prefix, [userMessage("Thanks")]);
                const rendered = renderNext(events, settings);
                expect(rendered.violations, `rules, prefix of ${length}`).toEqual([]);
                const body = bodyText(rendered);
                tally.add("next requests");
                const hash = sha256(`${body}${keyOf(settings)}`);
                if (asked.has(hash)) continue;
                asked.add(hash);
                tally.add("next requests judged (the others are the same bytes)");
                const refusal = await verdictOf(judge.baseUrl, body, keyOf(settings));
                expect(refusal, `prefix of ${length} events, ${describe(prefix)}\n${body}`).toBeUndefined();
              }
            }
          }
        } finally {
          await judge.close();
        }
      }),
      runs(QUICK),
    );
    expect(tally.get("prefixes")).toBeGreaterThan(300);
  },
  timeoutFor(QUICK),
);

/** The model in force, one that made part of the log, and one that never saw it. */
function targetsAt(
  prefix: readonly LoggedEvent[],
  baseUrl: string,
  replay: Settings["replay"],
): readonly Settings[] {
  const inForce = onPath(prefix).findLast((event) => event.type === "settings")?.settings;
  const home = practiceSettings(practiceModel("home", baseUrl), replay);
  const fresh = practiceSettings(practiceModel("other", baseUrl), replay);
  return [inForce ?? home, home, { ...fresh, target: { ...fresh.target, model: "emu-never-seen" } }];
}

function describe(events: readonly LoggedEvent[]): string {
  return events.map(({ seq, type }) => `${seq} ${type}`).join(", ");
}
