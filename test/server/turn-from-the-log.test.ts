/** The outcome of a turn from before this server started comes from the log alone. */

import { expect, test } from "vitest";

import { memoryStore } from "../../src/index.ts";
import type { AppendDraft } from "../../src/runtime/log/index.ts";
import { LogBuilder } from "../contracts/log-builder.ts";
import { ask, servedAlone } from "./server-fixture.ts";

test("an earlier turn's text is the text it ended with, without the text of a failed response", async () => {
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

test("a turn that a crash left open reads the same before and after the next message has closed it", async () => {
  const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 6, reasoningTokens: 2 };
  const log = new LogBuilder()
    .add({ type: "session_start", session: "s1", root: "s1", writer: "test" })
    .user("what is it?")
    .respond({
      items: [
        { type: "message", text: "One moment." },
        { type: "call", callId: "c1" },
      ],
      usage,
    })
    .respond({ items: [{ type: "message", text: "Half of ano" }], status: "failed", usage });
  const store = memoryStore();
  await store.create("s1", { events: log.events as readonly AppendDraft[], blobs: new Map() });
  const { server } = await servedAlone({ store });
  const path = `/api/sessions/s1/turns/${log.turn}`;
  const before = JSON.parse((await ask(server, { path })).text) as { readonly result: unknown };
  const body = JSON.stringify({ input: "go on", turn: "next" });
  await ask(server, { method: "POST", path: "/api/sessions/s1/turns", body });
  await ask(server, { path: "/api/sessions/s1/turns/next?wait=30" });
  const after = JSON.parse((await ask(server, { path })).text) as { readonly result: unknown };
  expect(before.result).toMatchObject({ status: "interrupted", text: "One moment." });
  expect(after.result).toEqual(before.result);
});
