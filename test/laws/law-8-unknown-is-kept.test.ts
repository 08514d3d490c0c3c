import { afterEach, beforeEach, expect, test } from "vitest";

import { parseLine, toLine } from "../../src/base/events/index.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, type LoggedEvent } from "../../src/index.ts";
import { planOf } from "../../src/runtime/fold/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { groupLog } from "../support/group-log.ts";
import { practiceModel } from "../support/practice-models.ts";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

test("law 8: unknown wire events and item types are kept and counted, and the turn continues", async () => {
  emulator.addFaults({
    type: "all",
    faults: [{ type: "unknown-event" }, { type: "unknown-event", index: 4 }, { type: "unknown-item" }],
  });
  const session = await createAgent({ model: practiceModel("home", emulator.baseUrl) }).open({ id: "s" });
  const first = await session.send("Thanks").result();
  const second = await session.send("Thanks again").result();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  const other = events.find((event) => event.type === "other_item");
  expect([first.status, second.status]).toEqual(["completed", "completed"]);
  expect(events.find((event) => event.type === "response_end")?.unknown).toEqual({
    "response.emulator_surprise": 2,
    "item surprise_call": 1,
  });
  const sent = emulator.exchanges[0]?.events.find(
    (event) =>
      event["type"] === "response.output_item.done" &&
      (event["item"] as { readonly type: string }).type === "surprise_call",
  );
  expect(other?.item).toBe(JSON.stringify(sent?.["item"]));
  expect((await session.explain()).find(({ type }) => type === "other_item")).toMatchObject({
    action: "omit",
    reason: "unknown_type",
  });
});

test("law 8: unknown fields stay in the log with their exact text", () => {
  const item =
    '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA","novelty":{"n": 1.0, "z":-0}}';
  const kept = groupLog([item]).find((event) => event.type === "reasoning");
  expect(kept?.item).toBe(item);
});

test("law 8: unknown fields keep their exact text when the log is read back from its file", async () => {
  const item =
    '{"id":"rs_1","type":"reasoning","summary":[],"novelty":{"n": 1.0, "z":-0,"big":12345678901234567890}}';
  const store = fileStore(temporaryFolder());
  const log = await store.open("s", { mode: "write" });
  const kept = groupLog([item]).find((event) => event.type === "reasoning");
  if (kept === undefined) throw new Error("the fixture has no thought");
  await log.append([kept]);
  await log.close();
  const again = await store.open("s", { mode: "read" });
  expect(again.events.map((event) => (event.type === "reasoning" ? event.item : event.type))).toEqual([item]);
});

test("law 8: an event from a later version passes through with its exact text and does not change the plan", () => {
  const line =
    '{"v":2,"seq":5,"id":"ev_9","at":"2027-01-01T00:00:00.000Z","epoch":3,"type":"telepathy","n":1.0,"deep":{"z":-0}}';
  const event = parseLine(line);
  expect(event).toMatchObject({ type: "unknown", unknownType: "telepathy", seq: 5 });
  expect(toLine(event)).toBe(line);
  const events = groupLog(['{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}']);
  expect(planOf([...events, event])?.entries.length).toBe(planOf(events)?.entries.length);
});
