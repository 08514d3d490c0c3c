/** Recorded answers, stored as other programs store them, are imported and break no rule on any dialect. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { importHistory } from "../../src/diagnostics/import/index.ts";
import { anthropic, memoryStore, openai, openaiChat } from "../../src/index.ts";
import { previewFromLog } from "../../src/inspect.ts";
import { driverOf } from "../../src/runtime/providers/dialects.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { decode, framed, present, readRecording, recordingNames, responsesOf } from "./recordings.ts";

const AT = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "k" };
const MODELS = [openai("gpt-5.6", AT), anthropic("claude-opus-5", AT), openaiChat("chat", AT)] as const;

async function expectSound(history: string, thoughts: number): Promise<void> {
  for (const from of [undefined, ...MODELS]) {
    const store = memoryStore();
    const report = await importHistory(store, history, { from });
    expect(report.thoughts).toBe(thoughts);
    const log = await store.open(report.id, { mode: "write" });
    const content = [{ type: "text", text: "Go on." }] as const;
    await log.append([{ type: "user_message", turn: "tn_next", by: "person", content }]);
    for (const model of MODELS) expect((await previewFromLog(log, model)).violations).toEqual([]);
    await log.close();
  }
}

const thoughtsIn = (items: readonly { readonly type: string }[]): number =>
  items.filter(({ type }) => type === "reasoning").length;

describe.skipIf(!present)("recorded answers of the Responses API", () => {
  test.each(recordingNames(".chunks.txt"))("%s", async (name) => {
    for (const lines of responsesOf(readRecording(name))) {
      const { items } = decode(framed(lines));
      if (items.length === 0) continue;
      const input = ['{"role":"user","content":"Hello"}', ...items.map(({ item }) => item)];
      await expectSound(`{"model":"gpt-5.6","input":[${input.join(",")}]}`, thoughtsIn(items));
    }
  });
});

const folder = join(process.env["THROUGHLINE_FIXTURES"] ?? "", "anthropic");
const recorded = present && existsSync(folder) ? readdirSync(folder) : [];

describe.skipIf(recorded.length === 0)("recorded answers of the Messages API", () => {
  test.each(recorded.filter((name) => name.endsWith(".chunks.txt")))("%s", async (name) => {
    const decoder = driverOf("anthropic-messages").createDecoder();
    const lines = readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean);
    const events = decoder.feed(new SseDecoder().feed(framed(lines)));
    const items = events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));
    const content = items.map(({ item }) => item).join(",");
    const said = `[{"role":"user","content":"Hello"},{"role":"assistant","content":[${content}]}]`;
    await expectSound(`{"model":"claude-opus-5","max_tokens":9,"messages":${said}}`, thoughtsIn(items));
  });
});
