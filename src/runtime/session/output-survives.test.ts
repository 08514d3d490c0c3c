/** A turn keeps its output schema: through a crash at any point, a retry, an edit, a compaction and a fork. */

import { describe, expect, test } from "vitest";
import { z } from "zod";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import { loadScenario } from "../../emulator/index.ts";
import { fileStore, memoryStore, type Store } from "../log/index.ts";
import { emulator } from "../models/index.ts";
import type { Model } from "../providers/index.ts";
import { tool } from "../tools/index.ts";
import { createAgent } from "./agent.ts";
import type { Session } from "./types.ts";

const PARIS = '{"city":"Paris","degrees":21}';
const ROME = '{"city":"Rome","degrees":30}';
const Weather = z.object({ city: z.string(), degrees: z.number() });
const WEATHER = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};
const OTHER = {
  type: "object",
  properties: { mood: { type: "string" } },
  required: ["mood"],
  additionalProperties: false,
};

/** A model that gives these answers, then fails. */
function answering(...answers: readonly string[]): Model {
  const steps = answers.map((message) => ({ output: [{ message }] }));
  return emulator({ scenario: loadScenario(JSON.stringify({ steps, afterwards: "error" }), "test.json") });
}

async function historyOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

/** The schema of each request as the log proves it; undefined for a request for prose. */
async function schemasOf(session: Session): Promise<readonly unknown[]> {
  const schemas: unknown[] = [];
  const starts = (await historyOf(session)).filter(({ type }) => type === "response_start");
  for (const [index] of starts.entries()) {
    const { proof, body, settings } = await session.rebuild(index + 1);
    expect(proof).toBe("same");
    const { output } = settings;
    expect(/"(?:degrees|mood)":\{/.test(body)).toBe(output !== undefined);
    schemas.push(output?.schema);
  }
  return schemas;
}

/** A session whose process died after its nth event. */
async function diedAfter(events: readonly LoggedEvent[], count: number, model: Model): Promise<Session> {
  const store = memoryStore();
  const left = events.slice(0, count) as unknown as readonly EventDraft[];
  await store.create("s", { events: left, blobs: new Map() });
  return createAgent({ model, permissions: "auto", tools: [clock] }).open({ id: "s", store });
}

const clock = tool({
  name: "get_time",
  description: "The time in a city",
  input: { type: "object", properties: {}, additionalProperties: true },
  access: "read",
  run: () => "12:00",
});

describe.each(["emu-reasoner", "emu-claude", "emu-chat"])("on %s", (name) => {
  test("a turn that died at any point keeps its schema when it is resumed", async () => {
    const model = emulator({ model: name });
    const whole = await createAgent({ model }).open({ id: "s" });
    await whole.send("Say hello.").result();
    const before = whole.lastSeq + 1;
    const turn = whole.send("The weather in Paris?", { output: Weather });
    expect(await turn.result()).toMatchObject({ status: "completed", output: { city: expect.any(String) } });
    const events = await historyOf(whole);
    expect(events.slice(before, before + 2).map(({ type }) => type)).toEqual(["settings", "user_message"]);

    for (let count = before + 1; count < events.length; count += 1) {
      const session = await diedAfter(events, count, model);
      const hasBegun = count > before + 1;
      expect(session.interrupted).toBe(hasBegun);
      if (!hasBegun) continue;
      const result = await session.resume().result();
      expect(result).toMatchObject({ status: "completed", output: { degrees: expect.any(Number) } });
      const [hello, ...asked] = await schemasOf(session);
      expect(hello).toBeUndefined();
      expect(asked.length).toBeGreaterThan(0);
      for (const schema of asked)
        expect(schema).toEqual(events[before]?.type === "settings" && events[before].settings.output?.schema);
    }
  });

  test("a retry, a retry of it and an edit have the schema, and a new message has none", async () => {
    const session = await createAgent({ model: emulator({ model: name }) }).open();
    await session.send("The weather in Paris?", { output: WEATHER }).result();
    const message = (await historyOf(session)).find(({ type }) => type === "user_message")?.seq ?? -1;
    const structured = { status: "completed", output: { city: expect.any(String) } };
    expect(await session.retry().result()).toMatchObject(structured);
    expect(await session.retry().result()).toMatchObject(structured);
    expect(await session.edit(message, "The weather in Rome?").result()).toMatchObject(structured);
    const prose = await session.send("Thank you.").result();
    expect(prose).toMatchObject({ status: "completed", output: undefined });
    expect(await schemasOf(session)).toEqual([WEATHER, WEATHER, WEATHER, WEATHER, undefined]);
  });
});

/** The log of a structured turn up to the end of its nth response. */
async function answered(nth: number, ...answers: readonly string[]): Promise<readonly LoggedEvent[]> {
  const session = await createAgent({ model: answering(...answers) }).open({ id: "s" });
  await session.send("Weather?", { output: Weather }).result();
  const events = await historyOf(session);
  const ends = events.filter(({ type }) => type === "response_end");
  return events.slice(0, (ends[nth - 1]?.seq ?? 0) + 1);
}

describe("an already answered turn that is resumed", () => {
  test("is validated, and its value is in the result", async () => {
    const events = await answered(1, PARIS);
    const session = await diedAfter(events, events.length, answering());
    const result = await session.resume().result();
    expect(result).toMatchObject({ status: "completed", steps: 1, output: { city: "Paris", degrees: 21 } });
  });

  test("gets its one correction if the answer does not fit", async () => {
    const events = await answered(1, "21 degrees", PARIS);
    const session = await diedAfter(events, events.length, answering(ROME));
    const result = await session.resume().result();
    expect(result).toMatchObject({ status: "completed", steps: 2, output: { city: "Rome", degrees: 30 } });
  });

  test("gets no second correction", async () => {
    const events = await answered(2, "21 degrees", PARIS.replace("21", '"21"'));
    const session = await diedAfter(events, events.length, answering(ROME));
    const result = await session.resume().result();
    expect(result).toMatchObject({ status: "failed", steps: 2, error: { code: "output_invalid" } });
  });

  test("that died right after its correction answers that, and is not corrected again", async () => {
    const events = await answered(1, "21 degrees", PARIS);
    const whole = await createAgent({ model: answering("21 degrees", PARIS) }).open({ id: "s" });
    await whole.send("Weather?", { output: Weather }).result();
    const corrected = (await historyOf(whole)).slice(0, events.length + 1);
    expect(corrected.at(-1)).toMatchObject({ type: "user_message", by: "runtime" });
    const good = await diedAfter(corrected, corrected.length, answering(ROME));
    expect(await good.resume().result()).toMatchObject({
      status: "completed",
      steps: 2,
      output: { city: "Rome" },
    });
    const bad = await diedAfter(corrected, corrected.length, answering("30 degrees", ROME));
    expect(await bad.resume().result()).toMatchObject({
      status: "failed",
      error: { code: "output_invalid" },
    });
  });
});

describe("the schema of a resumed turn", () => {
  const Loud = Weather.extend({ city: z.string().transform((city) => city.toUpperCase()) });

  async function interrupted(store: Store): Promise<void> {
    const session = await createAgent({ model: answering(PARIS) }).open({ id: "s", store });
    const turn = session.send("Weather?", { output: Loud });
    await turn.result();
    await session.close();
  }

  async function cut(): Promise<readonly LoggedEvent[]> {
    const store = memoryStore();
    await interrupted(store);
    const session = await createAgent({ model: answering() }).open({ id: "s", store });
    const events = await historyOf(session);
    return events.slice(
      0,
      events.findIndex(({ type }) => type === "response_start"),
    );
  }

  test("is the JSON Schema of the log if the object is gone: without transforms", async () => {
    const events = await cut();
    const session = await diedAfter(events, events.length, answering(PARIS));
    const result = await session.resume().result();
    expect(result).toMatchObject({ status: "completed", output: { city: "Paris", degrees: 21 } });
  });

  test("can be given again, with its transforms and its type", async () => {
    const events = await cut();
    const session = await diedAfter(events, events.length, answering(PARIS));
    const result = await session.resume({ output: Loud }).result();
    expect(result).toMatchObject({ status: "completed", output: { city: "PARIS", degrees: 21 } });
  });

  test("can be another one, which then counts", async () => {
    const events = await cut();
    const session = await diedAfter(events, events.length, answering('{"mood":"fine"}', '{"mood":"good"}'));
    expect(await session.resume({ output: OTHER }).result()).toMatchObject({ output: { mood: "fine" } });
    expect(await session.retry().result()).toMatchObject({ output: { mood: "good" } });
    expect(await schemasOf(session)).toEqual([OTHER, OTHER]);
  });

  test("is the live object for a retry and an edit in the same process", async () => {
    const session = await createAgent({ model: answering(PARIS, ROME, PARIS) }).open();
    await session.send("Weather?", { output: Loud }).result();
    expect(await session.retry().result()).toMatchObject({ output: { city: "ROME" } });
    const seq = (await historyOf(session)).find(({ type }) => type === "user_message")?.seq ?? -1;
    expect(await session.edit(seq, "Weather now?").result()).toMatchObject({ output: { city: "PARIS" } });
  });
});

test("a retry and an edit take a schema of their own", async () => {
  const mood = '{"mood":"fine"}';
  const session = await createAgent({ model: answering("Fine.", mood, mood, mood) }).open();
  await session.send("How are you?").result();
  expect(await session.retry({ output: OTHER }).result()).toMatchObject({ output: { mood: "fine" } });
  expect(await session.retry().result()).toMatchObject({ output: { mood: "fine" } });
  const seq = (await historyOf(session)).find(({ type }) => type === "user_message")?.seq ?? -1;
  // The message belongs to the first turn, which had no schema.
  expect(await session.edit(seq, "And now?").result()).toMatchObject({
    status: "completed",
    output: undefined,
  });
  expect(await schemasOf(session)).toEqual([undefined, OTHER, OTHER, undefined]);
});

test("a schema that cannot be used is refused at once, and nothing begins", async () => {
  const session = await createAgent({ model: answering("Fine.") }).open();
  await session.send("How are you?").result();
  const seq = (await historyOf(session)).find(({ type }) => type === "user_message")?.seq ?? -1;
  const { lastSeq } = session;
  const refused = expect.objectContaining({ code: "schema_invalid" });
  expect(() => session.retry({ output: { type: "array" } })).toThrow(refused);
  expect(() => session.edit(seq, "x", { output: { type: "array" } })).toThrow(refused);
  expect(session.lastSeq).toBe(lastSeq);
});

test("a turn without a schema that follows one with a schema stays prose when it died at its opening", async () => {
  const whole = await createAgent({ model: answering(PARIS, "Fine.") }).open({ id: "s" });
  await whole.send("Weather?", { output: Weather }).result();
  const before = whole.lastSeq + 1;
  await whole.send("How are you?").result();
  const events = await historyOf(whole);
  for (let count = before + 2; count < events.length; count += 1) {
    const session = await diedAfter(events, count, answering("Good."));
    expect(await session.resume().result()).toMatchObject({ status: "completed", output: undefined });
  }
});

test("after an undo, the next turn does not inherit the schema of the abandoned one", async () => {
  const session = await createAgent({ model: answering("Fine.", PARIS, "Good.", "Well.") }).open();
  await session.send("How are you?").result();
  await session.send("Weather?", { output: Weather }).result();
  await session.undo();
  expect(session.interrupted).toBe(false);
  await session.send("And now?").result();
  expect(await session.retry().result()).toMatchObject({ status: "completed", output: undefined });
  expect((await schemasOf(session)).map((schema) => schema !== undefined)).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test("a fork keeps the schema of the turn it can retry", async () => {
  const session = await createAgent({ model: answering(PARIS, ROME) }).open();
  await session.send("Weather?", { output: Weather }).result();
  const child = await session.fork();
  expect(await child.retry().result()).toMatchObject({ status: "completed", output: { city: "Rome" } });
});

test("a reopened file store has it too", async () => {
  const store = fileStore(temporaryFolder());
  const first = await createAgent({ model: answering(PARIS) }).open({ id: "s", store });
  await first.send("Weather?", { output: Weather }).result();
  await first.close();
  const again = await createAgent({ model: answering(ROME) }).open({ id: "s", store });
  expect(await again.retry().result()).toMatchObject({ status: "completed", output: { city: "Rome" } });
  await again.close();
});
