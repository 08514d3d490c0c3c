import { expect, test } from "vitest";

import { inOrder, LogBuilder } from "../../../test/contracts/log-builder.ts";
import { storedLines as stored } from "../../../test/contracts/stored-lines.ts";
import type { LoggedEvent } from "./canonical.ts";
import { LineHead } from "./line-head.ts";
import { toOpenLine } from "./line.ts";
import { originOf, sketchOfItem, sketchOfResult, usageOf } from "./sketch.ts";
import { decodedWhenRead, type EventHead, eventOf, eventsWhere, headsOf, isQuiet } from "./stored-event.ts";

const WRITTEN = new LogBuilder()
  .settings()
  .user("hi")
  .respond({
    items: [
      { type: "reasoning" },
      { type: "message", text: "a" },
      { type: "call", callId: "call_1" },
      { type: "hosted", itemType: "web_search_call" },
    ],
  })
  .start("call_1")
  .result("call_1", 'say "ü"\n')
  .user("again")
  .respond({ items: [{ type: "message", text: "b" }] });
const LOG = { events: WRITTEN.events.map(inOrder) };

test("most events are known by their heads, and decode to what was written", () => {
  const { heads, read } = stored(LOG.events);
  const quiet = heads.filter(isQuiet).map(({ type }) => type);
  expect(quiet).toEqual([
    "response_start",
    "reasoning",
    "assistant_message",
    "tool_call",
    "response_end",
    "tool_start",
    "tool_result",
    "response_start",
    "assistant_message",
    "response_end",
  ]);
  for (const [at, { type, seq, epoch, turn, response, step }] of heads.entries())
    expect({ seq, epoch, type, turn, response }).toMatchObject(
      headFields(LOG.events[at] as LoggedEvent, step),
    );
  expect(read).toEqual([]);
  expect(heads.map(eventOf)).toEqual(LOG.events);
  expect(read).toHaveLength(quiet.length);
  expect(eventOf(heads[3] as EventHead)).toBe(eventOf(heads[3] as EventHead));
});

function headFields(event: LoggedEvent, step: number | undefined): object {
  if (event.type === "response_start") expect(step).toBe(event.step);
  const { seq, epoch, type, turn, response } = event;
  return { seq, epoch, type, turn, response };
}

test.each([
  ["leaves something out", "response_start", { leftOut: [] }],
  ["refers to what an earlier one left out", "response_start", { leftOutAs: 1 }],
  ["names a blob", "tool_result", { blob: "b" }],
  ["names images", "tool_result", { parts: [] }],
  ["says what sub-agents used", "tool_result", { spent: [] }],
  ["did not end well", "response_end", { status: "incomplete" }],
  ["says what came late", "response_end", { late: [] }],
  ["says why it failed", "response_end", { error: { code: "x", message: "y" } }],
])("an event that %s is decoded at once", (_what, type, more) => {
  const events = LOG.events.map((event) => (event.type === type ? { ...event, ...more } : event));
  const { heads } = stored(events as readonly LoggedEvent[]);
  expect(heads.filter((head) => head.type === type).some(isQuiet)).toBe(false);
});

test("a line in another order is decoded at once", () => {
  const events = LOG.events.map((event) => Object.fromEntries(Object.entries(event).toReversed()));
  const { heads } = stored(events as unknown as readonly LoggedEvent[]);
  expect(heads.some(isQuiet)).toBe(false);
  expect(heads.map(eventOf)).toEqual(LOG.events);
});

test.each(["type", "seq", "epoch", "turn", "response", "step"])(
  "a line whose %s is repeated with another value is refused when it is decoded",
  (key) => {
    const other = { type: '"tool_call"', seq: "99", epoch: "9", turn: '"x"', response: '"x"', step: "9" }[
      key
    ];
    const { heads } = stored(LOG.events, (text) => `${text.slice(0, -1)},"${key}":${other}}`);
    expect(() => eventOf(heads[2] as EventHead)).toThrow("line 2");
  },
);

test("an event that is not what its type says is refused when it is decoded", () => {
  const { heads } = stored(LOG.events, (text) => text.replace('"opaque":true', '"opaque":1'));
  expect(() => eventOf(heads[3] as EventHead)).toThrow("line 3");
});

test("a list is an array to its readers, decodes each element once, and cannot be changed", () => {
  const { heads, read } = stored(LOG.events);
  const list = decodedWhenRead([...heads]);
  expect(list.length).toBe(LOG.events.length);
  expect(list.at(-1)).toEqual(LOG.events.at(-1));
  expect(read).toHaveLength(1);
  expect(list.findLast(({ type }) => type === "tool_call")).toEqual(LOG.events[5]);
  expect([...list]).toEqual(LOG.events);
  expect(list).toEqual(LOG.events);
  expect(list.slice(3, 5)).toEqual(LOG.events.slice(3, 5));
  expect(JSON.parse(JSON.stringify(list))).toHaveLength(LOG.events.length);
  expect(new Set(read).size).toBe(read.length);
  expect(Array.isArray(list)).toBe(true);
  expect(() => (list as LoggedEvent[]).push(LOG.events[0] as LoggedEvent)).toThrow(TypeError);
  expect(headsOf(list)).toEqual(heads);
  expect(headsOf(LOG.events)).toBe(LOG.events);
});

test("looking for events decodes only those whose heads are wanted", () => {
  const { heads, read } = stored(LOG.events);
  const list = decodedWhenRead([...heads]);
  expect(eventsWhere(list, ({ type }) => type === "tool_start")).toEqual([LOG.events[8]]);
  expect(read).toEqual([8]);
});

test("a sketch says the same of a line as of its event", () => {
  const { heads } = stored(LOG.events);
  for (const [at, head] of heads.entries()) {
    const event = LOG.events[at] as LoggedEvent;
    if (event.type === "tool_result") {
      const [line, decoded] = [sketchOfResult(head), sketchOfResult(event)];
      expect([line.callId, line.hasParts, line.json]).toEqual([
        decoded.callId,
        decoded.hasParts,
        decoded.json,
      ]);
    } else if ("item" in event) {
      const { head: _line, ...line } = sketchOfItem(head);
      const { head: _event, ...decoded } = sketchOfItem(event);
      expect({ ...line, item: sketchOfItem(head).item }).toEqual({ ...decoded, item: event.item });
    }
  }
});

test.each(["\\u0041", "\\/", "\\u2028"])(
  "a result with the escape %s is sent as JSON.stringify writes it",
  (escape) => {
    const { heads } = stored(LOG.events, (text) => text.replace("say", escape));
    const result = heads.find(({ type }) => type === "tool_result") as EventHead;
    expect(sketchOfResult(result).json).toBe(
      JSON.stringify((eventOf(result) as { readonly text?: string }).text),
    );
  },
);

test("usage and origin are read from a line as its event has them", () => {
  const { heads } = stored(LOG.events);
  for (const head of heads) {
    if (head.type === "response_end") expect(usageOf(head)).toEqual(usageOf(eventOf(head)));
    if (head.type === "response_start") expect(originOf(head)).toEqual(originOf(eventOf(head)));
  }
});

test.each([
  ["more counts", { inputTokens: 1, cachedTokens: 2, outputTokens: 3, reasoningTokens: 4, contextTokens: 5 }],
  ["another order", { cachedTokens: 2, inputTokens: 1, outputTokens: 3, reasoningTokens: 4 }],
  ["a fraction", { inputTokens: 1.5, cachedTokens: 2, outputTokens: 3, reasoningTokens: 4 }],
  ["a large number", { inputTokens: 12_345_678_901, cachedTokens: 2, outputTokens: 3, reasoningTokens: 4 }],
  ["no usage", undefined],
])("usage with %s is the event's", (_what, usage) => {
  const events = LOG.events.map((event) => (event.type === "response_end" ? { ...event, usage } : event));
  const { heads } = stored(events);
  const end = heads.find(({ type }) => type === "response_end") as EventHead;
  expect(isQuiet(end)).toBe(true);
  expect(usageOf(end)).toEqual(usage);
});

test("another origin in the next line is not taken for the one before", () => {
  const [first, second] = LOG.events.filter((event) => event.type === "response_start");
  const other = { ...second, origin: { ...second?.origin, model: "another" } } as LoggedEvent;
  const { heads } = stored([first, { ...other, seq: (first?.seq ?? 0) + 1 }] as LoggedEvent[]);
  expect(heads.map((head) => originOf(head).model)).toEqual([first?.origin.model, "another"]);
});

test.each([
  ["response_start", "origin", "{}"],
  ["response_end", "status", '"failed"'],
  ["response_end", "usage", "{}"],
  ["tool_result", "callId", '"x"'],
  ["tool_result", "status", '"error"'],
  ["tool_result", "text", '"x"'],
])("a %s that repeats its %s is decoded at once", (type, key, value) => {
  const plain = toOpenLine(LOG.events.find((event) => event.type === type) as LoggedEvent);
  const again = `,"${key}":${value}`;
  expect(isReadByHead(plain)).toBe(true);
  expect(isReadByHead(plain + again + again)).toBe(false);
});

function isReadByHead(line: string): boolean {
  const bytes = Buffer.from(line);
  return new LineHead().read(bytes, 0, bytes.length);
}
