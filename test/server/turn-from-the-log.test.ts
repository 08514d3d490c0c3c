/** A turn of before this server was started: what became of it is told from the log alone. */

import { expect, test } from "vitest";

import { memoryStore } from "../../src/index.ts";
import type { AppendDraft } from "../../src/runtime/log/index.ts";
import { LogBuilder } from "../contracts/log-builder.ts";
import { ask, servedAlone } from "./server-fixture.ts";

test("its text is the text it ended with: what a failed response said is no part of it", async () => {
  const log = new LogBuilder()
    .add({ type: "session_start", session: "s1", root: "s1", writer: "test" })
    .user("what is it?")
    .respond({ items: [{ type: "message", text: "The answer." }] })
    .respond({ items: [{ type: "message", text: "Half of ano" }], status: "failed" })
    .endTurn();
  const store = memoryStore();
  await store.create("s1", { events: log.events as readonly AppendDraft[], blobs: new Map() });
  const { server } = await servedAlone({ store });
  const answer = await ask(server, { path: `/api/sessions/s1/turns/${log.turn}` });
  expect(JSON.parse(answer.text)).toMatchObject({
    state: "done",
    firstSeq: 1,
    lastSeq: log.lastSeq,
    result: { status: "completed", text: "The answer." },
  });
});
