import { expect, test } from "vitest";

import type { EphemeralEvent } from "../../base/events/index.ts";
import type { DeltaChannel } from "../providers/index.ts";
import { LiveItem } from "./live-item.ts";

const identity = { turn: "tn_1", response: "rsp_1", outputIndex: 0 };

const item = (kind: "reasoning" | "message" | "tool_call" | "other", more: { readonly name?: string } = {}) =>
  new LiveItem({ type: "item_start", outputIndex: 0, kind, ...more }, identity, { now: 0, monotonic: 0 });

function shownBy(
  live: LiveItem,
  ...delta: readonly [DeltaChannel, number, string]
): readonly EphemeralEvent[] {
  const shown: EphemeralEvent[] = [];
  live.delta(...delta, shown);
  return shown;
}

test("a reasoning part starts with its title, and is held back until the title is known", () => {
  const live = item("reasoning");
  expect(shownBy(live, "summary", 0, "**Look")).toEqual([]);
  expect(shownBy(live, "summary", 0, "ing**")).toEqual([
    { type: "reasoning_part_start", ...identity, part: 0, kind: "summary", title: "Looking" },
    { type: "reasoning_delta", ...identity, part: 0, delta: "**Looking**" },
  ]);
  expect(shownBy(live, "summary", 0, " more")).toEqual([
    { type: "reasoning_delta", ...identity, part: 0, delta: " more" },
  ]);
});

test("a part without a title starts at once, and raw reasoning never waits for one", () => {
  expect(shownBy(item("reasoning"), "summary", 0, "Plain").map(({ type }) => type)).toEqual([
    "reasoning_part_start",
    "reasoning_delta",
  ]);
  expect(shownBy(item("reasoning"), "reasoning", 0, "**not")[0]).toEqual({
    type: "reasoning_part_start",
    ...identity,
    part: 0,
    kind: "text",
  });
});

test("text still held back when the item ends is released, and counts as seen", () => {
  const live = item("reasoning");
  shownBy(live, "summary", 0, "**never closed");
  expect(live.ended(5)).toEqual([
    { type: "reasoning_part_start", ...identity, part: 0, kind: "summary" },
    { type: "reasoning_delta", ...identity, part: 0, delta: "**never closed" },
    { type: "reasoning_end", ...identity, durationMs: 5 },
  ]);
  expect(live.parts).toEqual(["**never closed"]);
});

test("a snapshot gives a late viewer the same text in the same parts", () => {
  const live = item("reasoning");
  const shown = [
    ...live.started(),
    ...shownBy(live, "summary", 0, "**A** one"),
    ...shownBy(live, "summary", 0, " two"),
    ...shownBy(live, "summary", 1, "**B** three"),
    ...shownBy(live, "summary", 2, "**pen"),
  ];
  const textOf = (events: typeof shown): readonly string[] => {
    const parts: string[] = [];
    for (const event of events)
      if (event.type === "reasoning_delta") parts[event.part] = (parts[event.part] ?? "") + event.delta;
    return parts;
  };
  expect(textOf([...live.snapshot()])).toEqual(textOf(shown));
  expect(live.snapshot().filter(({ type }) => type === "reasoning_part_start")).toHaveLength(2);
});

test("text and calls are passed on as they arrive", () => {
  const text = item("message");
  expect([
    ...text.started(),
    ...shownBy(text, "text", 0, "a"),
    ...shownBy(text, "text", 0, ""),
    ...text.ended(1),
  ]).toEqual([
    { type: "text_start", ...identity },
    { type: "text_delta", ...identity, delta: "a" },
    { type: "text_end", ...identity },
  ]);
  const call = item("tool_call", { name: "look" });
  expect([...call.started(), ...shownBy(call, "arguments", 0, "{}"), ...call.ended(1)]).toEqual([
    { type: "tool_call_start", ...identity, name: "look" },
    { type: "tool_call_delta", ...identity, delta: "{}" },
  ]);
});
