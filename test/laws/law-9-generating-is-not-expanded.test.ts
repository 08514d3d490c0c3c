import { afterEach, beforeEach, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, type SessionEvent } from "../../src/index.ts";
import { BlockList, blocksOf } from "../../src/interface/fragments/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { practiceModel } from "../support/practice-models.ts";
import { weatherTool } from "../support/weather-tool.ts";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

async function play(): Promise<{
  readonly live: readonly SessionEvent[];
  readonly logged: readonly LoggedEvent[];
}> {
  const agent = createAgent({
    model: practiceModel("home", emulator.baseUrl),
    tools: [weatherTool],
    clock: instantClock(),
  });
  const session = await agent.open({ id: "s" });
  const live: SessionEvent[] = [];
  for await (const event of session.send("What is the weather in Paris?")) live.push(event);
  const logged: LoggedEvent[] = [];
  for await (const event of session.events()) logged.push(event);
  return { live, logged };
}

test("law 9: a block is generating only while its response is open and its writer is alive", async () => {
  const { live } = await play();
  const list = new BlockList();
  const kinds = new Set<string>();
  for (const event of live) {
    list.add([event]);
    for (const { kind, generating } of list.view({ writerAlive: true })) if (generating) kinds.add(kind);
    expect(list.view({ writerAlive: false }).filter(({ generating }) => generating)).toEqual([]);
  }
  expect([...kinds].toSorted()).toEqual(["reasoning", "text", "tool"]);
  expect(list.view({ writerAlive: true }).filter(({ generating }) => generating)).toEqual([]);
});

test("law 9: the log does not record whether a block is unfolded, and a reload builds the same blocks as the live view", async () => {
  const { live, logged } = await play();
  const blocks = blocksOf(live, { writerAlive: true });
  expect(blocks).toEqual(blocksOf(logged, { writerAlive: false }));
  const fields = new Set(blocks.flatMap((block) => Object.keys(block)));
  expect([...fields].filter((field) => /expand|collapse|fold|open/i.test(field))).toEqual([]);
});

test("law 9: a block left by a cut stream stops generating when its response ends, not when the turn ends", async () => {
  emulator.addFaults({ type: "end", at: { where: "after", unit: "event", index: 6 } });
  const { live } = await play();
  const list = new BlockList();
  let cut = 0;
  for (const event of live) {
    list.add([event]);
    if (event.type !== "response_end" || event.status !== "cut") continue;
    cut += 1;
    const left = list.view({ writerAlive: true }).filter(({ id }) => id.startsWith(event.response));
    expect(left.map(({ kind, generating }) => ({ kind, generating }))).toEqual([
      { kind: "reasoning", generating: false },
    ]);
  }
  expect(cut).toBe(1);
});
