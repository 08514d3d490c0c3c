import { expect, test } from "vitest";

import { served } from "./server-fixture.ts";

test("a turn whose first events the log refuses as invalid ends as failed, and is not tried again", async () => {
  const { remote, store } = await served({ cwd: 7 as unknown as string });
  const session = await remote.open();
  const result = await session.send("Hello").result();
  expect(result).toMatchObject({ status: "failed", error: { code: "event_invalid" } });
  expect(await store.waiting(session.id).list()).toEqual([]);
});
