/** A turn with an output schema that runs full keeps the schema: its summary is prose, its continuation is not. */

import { expect, test } from "vitest";

import {
  anyTool,
  call,
  history,
  ofType,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { memoryStore } from "../log/index.ts";
import type { Session } from "../session/index.ts";

const WEATHER = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const PARIS = say('{"city":"Paris"}');
const looks = ["A", "B", "C"].map((text) => ({ output: [think(text), call("look")] }));
const options = {
  emulator: { models: { "emu-reasoner": { contextTokens: 2000 } } },
  tools: [anyTool("look", () => "word ".repeat(400))],
};

/** Whether each request of the log requires the schema; the summary's does not. */
async function required(session: Session): Promise<readonly (boolean | "summary")[]> {
  const found: (boolean | "summary")[] = [];
  for (const [index, { purpose }] of ofType(await history(session), "response_start").entries()) {
    const { settings, proof } = await session.rebuild(index + 1);
    expect(proof).toBe("same");
    if (purpose !== undefined) expect(settings.output).toBeUndefined();
    found.push(purpose === undefined ? settings.output !== undefined : "summary");
  }
  return found;
}

test("the turn that continues automatically has the schema", async () => {
  const { session } = await scriptedSession(
    [...looks, { output: [say("Looked.")] }, { output: [say("no JSON")] }, { output: [PARIS] }],
    options,
  );
  const result = await session.send("look around", { output: WEATHER }).result();
  expect(result).toMatchObject({ status: "completed", output: { city: "Paris" } });
  expect(new Set(await required(session))).toEqual(new Set([true, "summary"]));
  expect(await session.retry().result()).toMatchObject({ status: "completed", output: expect.anything() });
});

test("a process that dies at any point of the compaction or after it loses no schema", async () => {
  const answers = Array.from({ length: 60 }, () => ({ output: [PARIS] }));
  const { session, agent } = await scriptedSession([...looks, ...answers], options);
  await session.send("look around", { output: WEATHER }).result();
  const events = await history(session);
  const asked = events.findIndex((event) => "purpose" in event);
  expect(asked).toBeGreaterThan(0);
  let resumed = 0;
  for (let length = asked + 1; length < events.length; length += 1) {
    const store = memoryStore();
    await store.create("crashed", { events: events.slice(0, length) as never, blobs: new Map() });
    const reopened = await agent.open({ id: "crashed", store });
    resumed += reopened.interrupted ? 1 : 0;
    // Between the compaction and the turn that continues, nothing is open: the person asks again.
    const turn = reopened.interrupted ? reopened.resume() : reopened.retry();
    expect(await turn.result()).toMatchObject({ status: "completed", output: { city: "Paris" } });
    expect(new Set(await required(reopened))).toEqual(new Set([true, "summary"]));
    await reopened.close();
  }
  expect(resumed).toBeGreaterThan(5);
});

test("a resumed compaction takes a schema of its own", async () => {
  const { session, agent } = await scriptedSession(
    [
      ...looks,
      { output: [say("Looked.")] },
      { output: [PARIS] },
      { output: [say("Looked.")] },
      { output: [PARIS] },
    ],
    options,
  );
  await session.send("look around").result();
  const events = await history(session);
  const asked = events.findIndex((event) => "purpose" in event);
  const store = memoryStore();
  await store.create("crashed", { events: events.slice(0, asked + 1) as never, blobs: new Map() });
  const reopened = await agent.open({ id: "crashed", store });
  expect(await reopened.resume({ output: WEATHER }).result()).toMatchObject({
    status: "completed",
    output: { city: "Paris" },
  });
});
