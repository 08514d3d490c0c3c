import { expect, test } from "vitest";

import { createAgent, emulator } from "../../src/index.ts";
import { served } from "./server-fixture.ts";

test("a turn whose first events the log refuses as invalid ends as failed, and is not tried again", async () => {
  const options = { model: emulator(), cwd: "/" };
  const agent = createAgent(options);
  options.cwd = 7 as unknown as string; // after the check
  const { remote, store } = await served({ server: { agent } });
  const session = await remote.open();
  const result = await session.send("Hello").result();
  expect(result).toMatchObject({ status: "failed", error: { code: "event_invalid" } });
  expect(await store.waiting(session.id).list()).toEqual([]);
});
