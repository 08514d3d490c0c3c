import { expect, test } from "vitest";

import { LiveItem } from "./live-item.ts";
import { partialsFromScratch, readRow, ScratchWriter } from "./scratch-journal.ts";

type Piece = readonly [outputIndex: number, part: number, text: string];

const itemOf = (kind: "message" | "tool_call", name?: string): LiveItem =>
  new LiveItem(
    { type: "item_start", outputIndex: 0, kind, name },
    { turn: "tn_1", response: "rsp_1", outputIndex: 0 },
    { now: 0, monotonic: 0 },
  );

/** The rows that one batch of deltas leaves in the journal. */
function rows(response: string, pieces: readonly Piece[], item = itemOf("message")): readonly string[] {
  const writer = new ScratchWriter(response);
  const channel = item.kind === "message" ? "text" : "arguments";
  for (const [outputIndex, part, text] of pieces)
    writer.add({ type: "delta", outputIndex, channel, part, text }, item);
  return writer.take();
}

test("the deltas of each part come back joined, with parts and items in the order they began", () => {
  const scratch = [
    ...rows("rsp_1", [
      [0, 0, "Hel"],
      [1, 0, "x"],
    ]),
    ...rows("rsp_1", [
      [0, 1, "second"],
      [0, 0, "lo \n\u2028 ü"],
    ]),
  ];
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toEqual([
    {
      type: "partial",
      response: "rsp_1",
      outputIndex: 0,
      kind: "text",
      parts: ["Hello \n\u2028 ü", "second"],
    },
    { type: "partial", response: "rsp_1", outputIndex: 1, kind: "text", parts: ["x"] },
  ]);
});

test("other responses and finished items are omitted", () => {
  const scratch = [
    ...rows("rsp_0", [[0, 0, "old"]]),
    ...rows("rsp_1", [
      [0, 0, "done"],
      [1, 0, "open"],
    ]),
  ];
  expect(partialsFromScratch(scratch, "rsp_1", new Set([0]))).toMatchObject([
    { outputIndex: 1, parts: ["open"] },
  ]);
});

test("a torn last line, and anything that is not a row, is skipped", () => {
  const good = rows("rsp_1", [[0, 0, "kept"]]);
  const torn = rows("rsp_1", [[0, 0, " and lost"]]).join("");
  for (let length = 0; length < torn.length - 1; length += 1) {
    const partials = partialsFromScratch([...good, torn.slice(0, length)], "rsp_1", new Set());
    expect(partials).toMatchObject([{ parts: ["kept"] }]);
  }
  const odd = [
    '{"a":1}',
    "[1,2]",
    "null",
    '["rsp_1","0","text","text0","x"]',
    '["rsp_1",0,"odd","text0","x"]',
    '["rsp_1",0,"start","odd",{}]',
    '["rsp_1",0,"start","text",null]',
  ];
  expect(partialsFromScratch(odd, "rsp_1", new Set())).toEqual([]);
  expect(odd.map(readRow)).toEqual(odd.map(() => undefined));
});

test("the name of a tool call is kept", () => {
  const scratch = rows("rsp_1", [[2, 0, '{"ci']], itemOf("tool_call", "get_weather"));
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toEqual([
    {
      type: "partial",
      response: "rsp_1",
      outputIndex: 2,
      kind: "tool_call",
      parts: ['{"ci'],
      name: "get_weather",
    },
  ]);
});

test("consecutive deltas of one part are one row, and every batch starts a new one", () => {
  const writer = new ScratchWriter("rsp_1");
  const item = itemOf("message");
  const add = (part: number, text: string): void =>
    writer.add({ type: "delta", outputIndex: 0, channel: "text", part, text }, item);
  for (let n = 0; n < 200; n += 1) add(0, "a");
  add(1, "b");
  add(0, "c");
  const first = writer.take();
  expect(first).toHaveLength(3);
  expect(writer.take()).toEqual([]);
  add(0, "d");
  const scratch = [...first, ...writer.take()];
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toMatchObject([
    { parts: [`${"a".repeat(200)}cd`, "b"] },
  ]);
});

test("a start row says how an item begins, and does not affect what recovery makes of the deltas", () => {
  const writer = new ScratchWriter("rsp_1");
  const start = {
    type: "item_start",
    outputIndex: 0,
    kind: "tool_call",
    name: "get_weather",
    callId: "c1",
  } as const;
  writer.start(start);
  writer.start({ type: "item_start", outputIndex: 1, kind: "other" });
  writer.start({ type: "item_start", outputIndex: 2, kind: "message", phase: "commentary" });
  const item = itemOf("tool_call", "get_weather");
  writer.add({ type: "delta", outputIndex: 0, channel: "arguments", part: 0, text: "{" }, item);
  const scratch = writer.take();
  expect(scratch.map((row): unknown => JSON.parse(row))).toEqual([
    ["rsp_1", 0, "start", "tool_call", { name: "get_weather", callId: "c1" }],
    ["rsp_1", 2, "start", "text", { phase: "commentary" }],
    ["rsp_1", 0, "tool_call", "arguments0", "{", "get_weather"],
  ]);
  expect(scratch.map(readRow)).toMatchObject([
    { response: "rsp_1", start, delta: undefined },
    { start: { outputIndex: 2, kind: "message", phase: "commentary" }, delta: undefined },
    {
      start: { kind: "tool_call", name: "get_weather" },
      delta: { channel: "arguments", part: 0, text: "{" },
    },
  ]);
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toEqual(
    partialsFromScratch(scratch.slice(2), "rsp_1", new Set()),
  );
});
