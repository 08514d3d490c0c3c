import { expect, test } from "vitest";

import type { Store, StoredSession } from "../../runtime/log/index.ts";
import { rowsOf } from "./session-rows.ts";

test.each([Number.NaN, 1e300, -1e300])(
  "a file whose time reads %d is still listed with a time",
  async (modifiedAt) => {
    const store = {
      async *list(): AsyncGenerator<StoredSession> {
        yield { id: "odd", modifiedAt, bytes: 1, problem: "not to be read" };
      },
    } as unknown as Store;
    for await (const row of rowsOf(store)) expect(row.modifiedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  },
);
