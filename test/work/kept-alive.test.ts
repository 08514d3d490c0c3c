/** Memory holds only what is needed: no item retains the stream it was cut from, no log the one read before it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import { fileStore } from "../../src/runtime/log/index.ts";
import type { StreamEvent } from "../../src/runtime/providers/index.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/stream.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { afterTest } from "../support/clean-up.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const RESPONSES = 200;
const STREAM_BYTES = 100_000;

test("two hundred items of 1 KB retain at most ten times their size, though each arrived in 100 KB", () => {
  const items = (): readonly StreamEvent[] =>
    Array.from({ length: RESPONSES }, (_, index) => itemOf(streamWith(index))).flat();
  items(); // made once
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = items();
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  expect(kept).toHaveLength(RESPONSES);
  expect(grown).toBeLessThan((RESPONSES * STREAM_BYTES) / 10);
});

/** Some deltas, and then the item. */
function streamWith(index: number): Buffer {
  const delta = "x".repeat(STREAM_BYTES / 2);
  const item = {
    id: `rs_${index}`,
    type: "reasoning",
    summary: [],
    encrypted_content: `${index}`.padEnd(1000, "A"),
  };
  const events = [
    { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.reasoning_summary_text.delta", output_index: 1, summary_index: 0, delta },
  ];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

function itemOf(stream: Buffer): readonly StreamEvent[] {
  return new ResponsesDecoder()
    .feed(new SseDecoder().feed(stream))
    .filter(({ type }) => type === "item_done");
}

test("logs that are read one after the other are not retained: of twenty, at most one is alive", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-kept-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  const store = fileStore(folder);
  const LOGS = 20;
  const BYTES = 1_000_000;
  for (let index = 0; index < LOGS; index += 1) {
    const content = [{ type: "text", text: `${index}`.padEnd(BYTES, "x") }] as const;
    const events = [{ type: "user_message", turn: "tn_1", by: "person", content }] as const;
    await store.create(`s_${index}`, { events, blobs: new Map() });
  }
  const readAll = async (): Promise<void> => {
    for await (const { id } of store.list()) await (await store.open(id, { mode: "read" })).close();
  };
  await readAll(); // made once
  collect();
  const before = process.memoryUsage().heapUsed;
  await readAll();
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * BYTES);
});
