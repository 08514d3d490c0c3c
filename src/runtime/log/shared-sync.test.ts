import { expect, test } from "vitest";

import { gate } from "../../../test/contracts/session-fixture.ts";
import { SharedSync } from "./shared-sync.ts";

/** Each run of the sync ends when the test says so. */
function setUp() {
  const runs: { readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const shared = new SharedSync(async () => {
    const outcome = gate<Error | undefined>();
    runs.push({ end: () => outcome.open(undefined), fail: outcome.open });
    const error = await outcome.promise;
    if (error !== undefined) throw error;
  });
  const confirmed: string[] = [];
  const confirm = (name: string): Promise<void> =>
    shared.confirm().then(
      () => void confirmed.push(name),
      (error: Error) => void confirmed.push(`${name}: ${error.message}`),
    );
  return { runs, confirmed, confirm };
}

test("callers that come while a sync runs share the next one, which begins when it has ended", async () => {
  const { runs, confirmed, confirm } = setUp();
  const first = confirm("a");
  const others = [confirm("b"), confirm("c")];
  expect(runs).toHaveLength(1);
  runs[0]?.end();
  await first;
  expect([confirmed, runs.length]).toEqual([["a"], 2]);
  const last = confirm("d");
  runs[1]?.end();
  await Promise.all(others);
  expect([confirmed, runs.length]).toEqual([["a", "b", "c"], 3]);
  runs[2]?.end();
  await last;
  const later = confirm("e");
  expect(runs).toHaveLength(4);
  runs[3]?.end();
  await later;
  expect(confirmed).toEqual(["a", "b", "c", "d", "e"]);
});

test("a sync that failed also fails those that waited for the next one, but no later ones", async () => {
  const { runs, confirmed, confirm } = setUp();
  const both = [confirm("a"), confirm("b")];
  runs[0]?.fail(new Error("no disk"));
  await Promise.all(both);
  expect([confirmed, runs.length]).toEqual([["a: no disk", "b: no disk"], 1]);
  const later = confirm("c");
  runs[1]?.end();
  await later;
  expect(confirmed.at(-1)).toBe("c");
});
