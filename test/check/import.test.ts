/**
 * Histories of other tools become sessions: whole and broken ones, of every format. Each continues on all three dialects,
 * and the strict emulator accepts it.
 */

import { describe, expect, test } from "vitest";

import { importHistory } from "../../src/diagnostics/import/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { anthropic, createAgent, memoryStore, type Model, openai, openaiChat } from "../../src/index.ts";
import { previewFromLog } from "../../src/inspect.ts";
import { instantClock } from "../support/instant-clock.ts";
import { SAMPLES, told } from "./foreign-samples.ts";

const KEY = "sk-test";

function targets({ baseUrl }: Emulator): Readonly<Record<string, Model>> {
  return {
    responses: openai("emu-reasoner", { baseUrl, apiKey: KEY, profile: "emulator" }),
    messages: anthropic("emu-claude", { baseUrl: baseUrl.replace(/\/v1$/, ""), apiKey: KEY }),
    chat: openaiChat("emu-chat", { baseUrl, apiKey: KEY }),
  };
}

/** Continues a history on every dialect, each from the same import. Returns the emulator's refusals. */
async function continued(emulator: Emulator, text: string, from?: Model): Promise<readonly unknown[]> {
  const before = emulator.report().requests.length;
  for (const model of Object.values(targets(emulator))) {
    const store = memoryStore();
    const { id } = await importHistory(store, text, { from });
    const log = await store.open(id, { mode: "read" });
    expect((await previewFromLog(log, model)).violations).toEqual([]);
    const agent = createAgent({ model, limits: { maxSteps: 2, maxRetries: 0 }, clock: instantClock() });
    const session = await agent.open({ id, store });
    const { error } = await session.send("Go on.").result();
    expect(error).toBeUndefined();
    await session.close();
  }
  return emulator
    .report()
    .requests.slice(before)
    .filter(({ verdict }) => verdict !== "accepted");
}

describe.each(Object.entries(SAMPLES))("%s", (_, { format, dialect, write, broken }) => {
  test("continues on every dialect, from this account and from another", async () => {
    const { emulator, told: story } = await told(dialect);
    const text = write(story);
    expect(await continued(emulator, text)).toEqual([]);
    for (const from of Object.values(targets(emulator)))
      expect(await continued(emulator, text, from)).toEqual([]);
    expect(await importHistory(memoryStore(), text)).toMatchObject({
      format,
      messages: 1,
      responses: 2,
      openCalls: 0,
      lostResults: 0,
      leftOut: [],
    });
  });

  test.each(Object.entries(broken).filter(([, [rule]]) => rule !== "file"))(
    "continues although %s",
    async (__, [, make]) => {
      const { emulator, told: story } = await told(dialect);
      const text = make(write(story));
      const from = targets(emulator)[dialect];
      expect([await continued(emulator, text), await continued(emulator, text, from)]).toEqual([[], []]);
    },
  );

  test.each(Object.entries(broken).filter(([, [rule]]) => rule === "file"))(
    "is refused if it has %s, and no session is made",
    async (__, [, make]) => {
      const { told: story } = await told(dialect);
      const store = memoryStore();
      await expect(importHistory(store, make(write(story)))).rejects.toMatchObject({
        code: "history_damaged",
      });
      for await (const { id } of store.list()) expect.unreachable(id);
    },
  );
});

test("refuses arguments in another order", async () => {
  await expect(importHistory("[]" as never, memoryStore() as never)).rejects.toMatchObject({
    code: "options_invalid",
    message: 'importHistory: store is "[]": use a store: fileStore("[]")',
  });
});

test("an answer with very many calls is read in linear time", { timeout: 20_000 }, async () => {
  const ids = Array.from({ length: 40_000 }, (_, n) => `call_${n}`);
  const text = JSON.stringify([
    { role: "user", content: "Look at everything." },
    { role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "look", input: {} })) },
    { role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: id })) },
  ]);
  const report = await importHistory(memoryStore(), text);
  expect(report).toMatchObject({ responses: 1, openCalls: 0, lostResults: 0 });
});
