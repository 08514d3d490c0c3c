import { expect, test } from "vitest";

import type { Store, StoredSession } from "../../runtime/log/index.ts";
import { newestFirst, rowsOf } from "./session-rows.ts";

const NOW = Date.UTC(2026, 10, 17);
const YEAR = 365 * 86_400_000;

function storeWith(times: Readonly<Record<string, number>>): Store {
  return {
    async *list(): AsyncGenerator<StoredSession> {
      for (const [id, modifiedAt] of Object.entries(times)) yield { id, modifiedAt, bytes: 1 };
    },
    open: async () => {
      throw new Error("not to be read");
    },
  } as unknown as Store;
}

test("what was written while the clock stood in the future comes behind the present", async () => {
  const store = storeWith({ old: NOW - YEAR, future: NOW + YEAR, skewed: NOW + 5000, later: NOW + 2 * YEAR });
  const ids = (await newestFirst(store, NOW)).map(({ id }) => id);
  expect(ids).toEqual(["skewed", "old", "later", "future"]);
});

test("while the clock stands in 1970 the session written last is the first", async () => {
  const store = storeWith({ before: NOW, now: 5000 });
  expect((await newestFirst(store, 6000)).map(({ id }) => id)).toEqual(["now", "before"]);
});

test.each([Number.NaN, 1e300, -1e300])(
  "a file whose time reads %d is listed with a time all the same",
  async (time) => {
    for await (const row of rowsOf(storeWith({ odd: time })))
      expect(row.modifiedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  },
);
