import { expect, test } from "vitest";

import { inOrder, LogBuilder } from "../../../test/contracts/log-builder.ts";
import { linesFrom, scanHeads } from "../../runtime/log/line-framing.ts";
import { textOfLine } from "../files/index.ts";
import type { LoggedEvent } from "./canonical.ts";
import { sketchOfItem, sketchOfResult } from "./sketch.ts";
import {
  decodedWhenRead,
  type EventHead,
  eventOf,
  eventsWhere,
  headsOf,
  type LineSource,
  StoredEvent,
} from "./stored-event.ts";

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

/** The heads of a log's lines, and how often a line was read again. */
function stored(events: readonly LoggedEvent[], change: (text: string) => string = (text) => text) {
  const bytes = linesFrom(events);
  const read: number[] = [];
  const lines: LineSource = {
    text(start, end, seq) {
      read.push(seq);
      return change(textOfLine(bytes, start, end));
    },
    damaged: (_start, seq, error) => new Error(`line ${seq}`, { cause: error }),
    keeps: true,
  };
  const { heads } = scanHeads(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0 }, lines);
  return { heads: heads as EventHead[], read };
}

test("most events are known by their heads, and decode to what was written", () => {
  const { heads, read } = stored(LOG.events);
  const quiet = heads.filter((head) => head instanceof StoredEvent).map(({ type }) => type);
  expect(quiet).toEqual([
    "response_start",
    "reasoning",
    "assistant_message",
    "tool_call",
    "tool_start",
    "tool_result",
    "response_start",
    "assistant_message",
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
  ["says what sub-agents used", "tool_result", { spent: [] }],
])("an event that %s is decoded at once", (_what, type, more) => {
  const events = LOG.events.map((event) => (event.type === type ? { ...event, ...more } : event));
  const { heads } = stored(events);
  expect(heads.filter((head) => head.type === type).some((head) => head instanceof StoredEvent)).toBe(false);
});

test("a line in another order is decoded at once", () => {
  const events = LOG.events.map((event) => Object.fromEntries(Object.entries(event).toReversed()));
  const { heads } = stored(events as unknown as readonly LoggedEvent[]);
  expect(heads.some((head) => head instanceof StoredEvent)).toBe(false);
  expect(heads).toEqual(LOG.events);
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
  const list = decodedWhenRead(heads);
  expect(list.length).toBe(LOG.events.length);
  expect(list.at(-1)).toEqual(LOG.events.at(-1));
  expect(read).toHaveLength(0); // a response_end
  expect(list.findLast(({ type }) => type === "tool_call")).toEqual(LOG.events[5]);
  expect([...list]).toEqual(LOG.events);
  expect(list).toEqual(LOG.events);
  expect(list.slice(3, 5)).toEqual(LOG.events.slice(3, 5));
  expect(JSON.parse(JSON.stringify(list))).toHaveLength(LOG.events.length);
  expect(new Set(read).size).toBe(read.length);
  expect(Array.isArray(list)).toBe(true);
  expect(() => (list as LoggedEvent[]).push(LOG.events[0] as LoggedEvent)).toThrow(TypeError);
  expect(headsOf(list)).toBe(heads);
  expect(headsOf(LOG.events)).toBe(LOG.events);
});

test("looking for events decodes only those whose heads are wanted", () => {
  const { heads, read } = stored(LOG.events);
  const list = decodedWhenRead(heads);
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
