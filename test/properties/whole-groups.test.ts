/**
 * The short way and the guard make the same requests: byte for byte, with the same decisions and sources, from events in
 * memory and from the lines of a file. An override that fits nothing sends every group to the guard.
 */

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { explain, Fold, type Plan } from "../../src/runtime/fold/index.ts";
import type { Model, RenderedRequest } from "../../src/runtime/providers/index.ts";
import { storedLines } from "../contracts/stored-lines.ts";
import { conversations } from "../support/conversation.ts";
import { bodyText, stamped } from "../support/next-request.ts";
import { play } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 20;
const tally = new Tally();
afterAll(() => tally.print("whole groups against the guard"));

const context = { cacheKey: "k", blob: () => undefined };

test(
  "a group that is sent whole is sent as the guard would send it",
  async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ maxActions: 8 }), async (conversation) => {
        const { logs, baseUrl } = await play(conversation);
        for (const log of logs) {
          const fast = planned(log);
          if (fast === undefined) continue;
          const guarded = planned(refused(log, fast)) as Plan;
          const stored = fromLines(log) as Plan;
          const model = (): Model => practiceModel("home", baseUrl);
          const expected = told(guarded, log, model());
          expect(told(fast, log, model())).toEqual(expected);
          expect(told(stored, log, model())).toEqual(expected);
          expect(told(stored, log, model(), inParts(log, model()))).toEqual(expected);
          tally.add("requests compared");
          tally.add("groups sent whole", wholeIn(fast));
          tally.add("groups sent whole from lines", wholeIn(stored));
          expect(wholeIn(guarded)).toBe(0);
          expect(wholeIn(stored)).toBe(wholeIn(fast));
        }
      }),
      runs(QUICK),
    );
    expect(tally.get("groups sent whole")).toBeGreaterThan(QUICK);
    expect(tally.get("parts rendered ahead")).toBeGreaterThan(QUICK);
  },
  timeoutFor(QUICK),
);

function planned(log: readonly LoggedEvent[]): Plan | undefined {
  const fold = new Fold();
  fold.add(log);
  return fold.plan();
}

/** Folded from heads: nothing is decoded before the request needs it. */
function fromLines(log: readonly LoggedEvent[]): Plan | undefined {
  const { heads } = storedLines(log);
  const fold = new Fold();
  fold.addHeads(heads, 0, heads.length);
  return fold.plan();
}

/** The log, and an override that fits nothing. */
function refused(log: readonly LoggedEvent[], { settings }: Plan): readonly LoggedEvent[] {
  const what = { kind: "call", callId: "call_that_nobody_made" } as const;
  const cause = { code: "refused", message: "refused" };
  const { target } = settings;
  return stamped(log, [{ type: "replay_override", what, action: "close_call", target, cause }]);
}

/** Planned and rendered one entry at a time, as a long log is in larger parts. */
function inParts(log: readonly LoggedEvent[], model: Model): RenderedRequest {
  const fold = new Fold();
  fold.add(log);
  const renderer = model.createRenderer();
  for (let plan = fold.planAhead(1); plan !== undefined; plan = fold.planAhead(1)) {
    tally.add("parts rendered ahead");
    renderer.renderAhead(plan, context);
  }
  return renderer.render(fold.plan() as Plan, context);
}

function told(
  plan: Plan,
  log: readonly LoggedEvent[],
  model: Model,
  rendered = model.createRenderer().render(plan, context),
): object {
  const { bodyHash, prefixHash, leftOut, sources, violations, remarks } = rendered;
  const decisions = explain(log, rendered.entries);
  return { body: bodyText(rendered), bodyHash, prefixHash, leftOut, sources, violations, remarks, decisions };
}

function wholeIn({ entries }: Plan): number {
  return entries.filter((entry) => entry.kind === "group" && entry.whole !== undefined).length;
}
