import { expect, test } from "vitest";

import { LiveItem } from "./live-item.ts";

const identity = { turn: "tn_1", response: "rsp_1", outputIndex: 0 };

const item = (kind: "reasoning" | "message" | "tool_call" | "other", more: { readonly name?: string } = {}) =>
  new LiveItem({ type: "item_start", outputIndex: 0, kind, ...more }, identity, { now: 0, monotonic: 0 });

test("a part of thinking starts with its title, held back until it is known", () => {
  const live = item("reasoning");
  expect(live.delta("summary", 0, "**Look")).toEqual([]);
  expect(live.delta("summary", 0, "ing**")).toEqual([
    { type: "reasoning_part_start", ...identity, part: 0, kind: "summary", title: "Looking" },
    { type: "reasoning_delta", ...identity, part: 0, delta: "**Looking**" },
  ]);
  expect(live.delta("summary", 0, " more")).toEqual([
    { type: "reasoning_delta", ...identity, part: 0, delta: " more" },
  ]);
});

test("a part without a title starts at once, and raw reasoning never waits for one", () => {
  expect(
    item("reasoning")
      .delta("summary", 0, "Plain")
      .map(({ type }) => type),
  ).toEqual(["reasoning_part_start", "reasoning_delta"]);
  expect(item("reasoning").delta("reasoning", 0, "**not")[0]).toEqual({
    type: "reasoning_part_start",
    ...identity,
    part: 0,
    kind: "text",
  });
});

test("what is held back when the item ends is let go, and is part of what was seen", () => {
  const live = item("reasoning");
  live.delta("summary", 0, "**never closed");
  expect(live.ended(5)).toEqual([
    { type: "reasoning_part_start", ...identity, part: 0, kind: "summary" },
    { type: "reasoning_delta", ...identity, part: 0, delta: "**never closed" },
    { type: "reasoning_end", ...identity, durationMs: 5 },
  ]);
  expect(live.parts).toEqual(["**never closed"]);
});

test("a snapshot brings a late viewer to where the others are: the same text, in the same parts", () => {
  const live = item("reasoning");
  const shown = [
    ...live.started(),
    ...live.delta("summary", 0, "**A** one"),
    ...live.delta("summary", 0, " two"),
    ...live.delta("summary", 1, "**B** three"),
    ...live.delta("summary", 2, "**pen"),
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

test("text and calls are passed on as they come", () => {
  const text = item("message");
  expect([
    ...text.started(),
    ...text.delta("text", 0, "a"),
    ...text.delta("text", 0, ""),
    ...text.ended(1),
  ]).toEqual([
    { type: "text_start", ...identity },
    { type: "text_delta", ...identity, delta: "a" },
    { type: "text_end", ...identity },
  ]);
  const call = item("tool_call", { name: "look" });
  expect([...call.started(), ...call.delta("arguments", 0, "{}"), ...call.ended(1)]).toEqual([
    { type: "tool_call_start", ...identity, name: "look" },
    { type: "tool_call_delta", ...identity, delta: "{}" },
  ]);
});
