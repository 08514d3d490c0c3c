import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { explain, Fold, type Plan, planOf } from "../../src/runtime/fold/index.ts";
import { conversations } from "../support/conversation.ts";
import { bodyText, practiceSettings } from "../support/next-request.ts";
import { play } from "../support/play.ts";
import { practiceModel } from "../support/practice-models.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 20;
const tally = new Tally();
afterAll(() => tally.print("incremental against from scratch"));

const context = { cacheKey: "k", blob: () => undefined };

test(
  "the plan and the bytes are the same whether the log arrived event by event or at once",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        conversations({ maxActions: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 20 }),
        fc.array(fc.boolean(), { minLength: 3, maxLength: 7 }),
        async (conversation, steps, previews) => {
          const { logs, baseUrl } = await play(conversation);
          const other = practiceSettings(practiceModel("other", baseUrl), conversation.replay);
          for (const log of logs) {
            const fold = new Fold();
            const renderer = practiceModel("home", baseUrl).createRenderer();
            let at = 0;
            for (let turn = 0; at < log.length; turn += 1) {
              const size = steps[turn % steps.length] ?? 1;
              fold.add(log.slice(at, at + size));
              at += size;
              const seen = log.slice(0, at);
              // A plan for another model in between must not disturb the one kept for this model.
              if (previews[turn % previews.length] === true) {
                expect(told(fold.plan(other))).toEqual(told(planOf(seen, other)));
              }
              const plan = fold.plan();
              const scratch = planOf(seen);
              expect(told(plan)).toEqual(told(scratch));
              tally.add("plans compared");
              if (plan === undefined || scratch === undefined) continue;
              const kept = renderer.render(plan, context);
              const anew = practiceModel("home", baseUrl).createRenderer().render(scratch, context);
              expect(bodyText(kept)).toBe(bodyText(anew));
              expect({ ...rest(kept), decisions: explain(seen, kept.entries) }).toEqual({
                ...rest(anew),
                decisions: explain(seen, anew.entries),
              });
              tally.add("bodies compared");
              tally.add("bytes compared", bodyText(kept).length);
            }
          }
        },
      ),
      runs(QUICK),
    );
    expect(tally.get("bodies compared")).toBeGreaterThan(QUICK);
  },
  timeoutFor(QUICK),
);

function rest(rendered: {
  readonly bodyHash: string;
  readonly prefixHash: string;
  readonly sources: readonly unknown[];
  readonly violations: readonly unknown[];
}): object {
  const { bodyHash, prefixHash, sources, violations } = rendered;
  return { bodyHash, prefixHash, sources, violations };
}

/** A plan as data: groups by their response. */
function told(plan: Plan | undefined): unknown {
  if (plan === undefined) return undefined;
  return {
    settings: plan.settings,
    strip: plan.strip,
    overrides: plan.overrides,
    entries: plan.entries.map((entry) =>
      entry.kind === "group"
        ? {
            group: entry.group.start.response,
            withIds: entry.withIds,
            items: entry.items,
            results: entry.results,
          }
        : entry,
    ),
  };
}
