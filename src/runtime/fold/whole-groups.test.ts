import { describe, expect, test } from "vitest";

import { HOME, type ItemSpec, LogBuilder } from "../../../test/contracts/log-builder.ts";
import type { LoggedEvent, Profile, Settings } from "../../base/events/index.ts";
import type { RawJson } from "../../base/support/index.ts";
import { planOf } from "./fold.ts";

const FULL: readonly ItemSpec[] = [
  { type: "reasoning" },
  { type: "message", text: "hello" },
  { type: "call", callId: "call_1" },
];

const start = (change: Partial<Settings> = {}, profile: Partial<Profile> = {}): LogBuilder =>
  new LogBuilder().settings(change, profile).user("hi");
const full = (log = start()): LogBuilder => log.respond({ items: FULL }).result("call_1");
const withItems = (...items: readonly ItemSpec[]): LogBuilder => start().respond({ items }).result("call_1");

const call = (fields: Partial<ItemSpec>): ItemSpec => ({ type: "call", callId: "call_1", ...fields });

/** Whether each group is sent as it is, without the guard. */
function whole(events: readonly LoggedEvent[]): readonly boolean[] {
  return (planOf(events)?.entries ?? []).flatMap((entry) =>
    entry.kind === "group" ? [entry.whole !== undefined] : [],
  );
}

/** The same log, with another event in the place of each of one type. */
function changed<Type extends LoggedEvent["type"]>(
  { events }: LogBuilder,
  type: Type,
  change: (event: Extract<LoggedEvent, { type: Type }>) => LoggedEvent,
): readonly LoggedEvent[] {
  return events.map((event) =>
    event.type === type ? change(event as Extract<LoggedEvent, { type: Type }>) : event,
  );
}

describe("a group is sent whole", () => {
  test("if it is finished, at home, and every call has its result", () => {
    expect(whole(full().events)).toEqual([true]);
  });

  test("with the decisions that the guard would make", () => {
    const [, entry] = planOf(full().events)?.entries ?? [];
    expect(
      entry?.kind === "group" ? { items: entry.items, results: entry.results } : undefined,
    ).toMatchObject({
      items: [
        { event: { type: "reasoning" }, action: "replay", reason: "same_origin", why: "its own origin" },
        { event: { type: "assistant_message" }, action: "replay", reason: "same_origin" },
        { event: { type: "tool_call" }, action: "replay", callId: "call_1", name: "look" },
      ],
      results: [{ callId: "call_1", text: "done", failed: false }],
    });
  });

  test("on an endpoint without item ids too", () => {
    const [, entry] = planOf(full(start({}, { itemIds: "omit" })).events)?.entries ?? [];
    expect(entry).toMatchObject({ kind: "group", withIds: false, whole: {} });
  });
});

describe("the guard looks at a group", () => {
  const LONG = `fc_${"x".repeat(80)}`;
  const foreign = { ...HOME, model: "another" };
  const late = [{ outputIndex: 0, item: "{}" as RawJson }];

  test.each<[why: string, events: readonly LoggedEvent[]]>([
    [
      "if the origin has refused anything",
      full().override({ kind: "call", callId: "c" }, "close_call").events,
    ],
    [
      "if its response is incomplete",
      start().respond({ items: FULL, status: "incomplete" }).result("call_1").events,
    ],
    ["if its response never ended", start().respond({ items: FULL, status: "open" }).result("call_1").events],
    ["if a part came late", start().respond({ items: FULL, late }).result("call_1").events],
    ["if another model made it", start().respond({ items: FULL, origin: foreign }).result("call_1").events],
    [
      "if its items are not in order",
      withItems({ type: "message", text: "a", outputIndex: 1 }, call({ outputIndex: 0 })).events,
    ],
    ["if an item has no id", withItems(call({ id: undefined })).events],
    ["if an id is too long", withItems(call({ id: LONG })).events],
    ["if an id has other characters", withItems(call({ id: "fc_ü" })).events],
    [
      "if an id repeats in it",
      withItems({ type: "message", text: "a", id: "fc_1" }, call({ id: "fc_1" })).events,
    ],
    [
      "if the model takes no reasoning",
      full(start({ capabilities: { reasoning: false, sampling: false, vision: true } })).events,
    ],
    ["if a thought has no payload", withItems({ type: "reasoning", payload: null }, call({})).events],
    ["if a message is blank", withItems({ type: "message", text: " \n" }, call({})).events],
    [
      "if a call has no id",
      start()
        .respond({ items: [call({ callId: "" })] })
        .result("").events,
    ],
    [
      "if the id of a call is too long",
      start()
        .respond({ items: [call({ callId: LONG })] })
        .result(LONG).events,
    ],
    ["if ids of calls have a pattern", full(start({}, { callIdPattern: "^[a-z0-9_]+$" })).events],
    ["if the name of a call cannot be sent", withItems(call({ name: "functions.look" })).events],
    ["if a call has no result", start().respond({ items: FULL }).events],
    ["if a result has parts", changed(full(), "tool_result", (event) => ({ ...event, parts: [] }))],
    ["if it has a hosted item", withItems({ type: "hosted", itemType: "web_search_call" }, call({})).events],
    [
      "if it has an item of an unknown type",
      withItems({ type: "other", itemType: "new_thing" }, call({})).events,
    ],
    [
      "if a program made the call",
      changed(full(), "tool_call", (event) => ({
        ...event,
        item: `${event.item.slice(0, -1)},"caller":{"type":"program"}}` as RawJson,
      })),
    ],
    ["if it ends with a thought", withItems(call({}), { type: "reasoning" }).events],
    ["if it is empty", start().respond({ items: [] }).events],
    ["if replayed reasoning is capped", full(start({ replay: { maxItems: 1 } })).events],
  ])("%s", (_why, events) => expect(whole(events)).toEqual([false]));

  test("if a later attempt replaced it", () => {
    const twice = start()
      .respond({ items: FULL, step: 1 })
      .result("call_1")
      .respond({ items: [{ type: "message", text: "b" }], step: 1, attempt: 2 });
    expect(whole(twice.events)).toEqual([false, true]);
  });

  test("if an id is already in the request", () => {
    const items: readonly ItemSpec[] = [{ type: "message", text: "a", id: "msg_1" }];
    expect(whole(start().respond({ items }).respond({ items }).events)).toEqual([true, false]);
  });

  test("if the id of a call is already in the request, where ids repeat", () => {
    const twice = full(full(start({}, { callIdsRepeat: true })));
    expect(whole(twice.events)).toEqual([true, false]);
    const inOne = start({}, { callIdsRepeat: true })
      .respond({ items: [call({}), call({ id: "fc_2" })] })
      .result("call_1");
    expect(whole(inOne.events)).toEqual([false]);
    expect(whole(full(full()).events)).toEqual([true, true]);
  });
});
