/** What a session keeps in memory is what it needs: no item holds the stream it was cut from. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import type { StreamEvent } from "../../src/runtime/providers/index.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/stream.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const RESPONSES = 200;
const STREAM_BYTES = 100_000;

test("two hundred items of 1 KB keep no more alive than ten times themselves, though each came in 100 KB", () => {
  const items = (): readonly StreamEvent[] =>
    Array.from({ length: RESPONSES }, (_, index) => itemOf(streamWith(index))).flat();
  items(); // what is made once
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
