import { expect, test } from "vitest";

import type { SessionEvent } from "../../base/events/index.ts";
import { KeptEvents } from "./kept-events.ts";

const at = { turn: "tn_1", response: "rsp_1", outputIndex: 0 };

function text(delta: string, outputIndex = 0): SessionEvent {
  return { type: "text_delta", ...at, outputIndex, delta };
}

function thought(delta: string, part: number): SessionEvent {
  return { type: "reasoning_delta", ...at, part, delta };
}

function kept(...batches: readonly (readonly SessionEvent[])[]): readonly SessionEvent[] {
  const events = new KeptEvents();
  for (const batch of batches) events.add(batch);
  return events.all();
}

test("deltas of one part that follow one another are one delta, in whichever batches they came", () => {
  expect(kept([text("a"), text("b")], [text("c")])).toEqual([text("abc")]);
});

test("every other event stays where it was", () => {
  const start: SessionEvent = { type: "text_start", ...at };
  const end: SessionEvent = { type: "text_end", ...at };
  expect(kept([start, text("a")], [text("b"), end, text("c")])).toEqual([start, text("ab"), end, text("c")]);
});

test("deltas of different items, parts, responses or kinds are not joined", () => {
  const events: readonly SessionEvent[] = [
    text("a"),
    text("b", 1),
    text("c"),
    { ...at, type: "text_delta", response: "rsp_2", delta: "d" },
    { ...at, type: "tool_call_delta", delta: "e" },
    thought("f", 0),
    thought("g", 1),
  ];
  expect(kept(events)).toEqual(events);
});

test("a list that was given out does not grow, and the deltas after it are joined with those before it", () => {
  const events = new KeptEvents();
  events.add([text("a"), text("b")]);
  const first = events.all();
  events.add([text("c")]);
  expect([first, events.all()]).toEqual([[text("ab")], [text("abc")]]);
});

test("twenty thousand deltas are kept as one event", () => {
  const events = new KeptEvents();
  for (let n = 0; n < 20_000; n += 1) events.add([text("x")]);
  expect(events.all()).toEqual([text("x".repeat(20_000))]);
});
