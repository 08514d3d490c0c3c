import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, type LoggedEvent, openai, tool } from "../../src/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { storeWith } from "../support/play.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 12;
const tally = new Tally();
afterAll(() => tally.print("small contexts"));

const MODEL = "emu-reasoner";

interface Filling {
  readonly contextTokens: number;
  /** Whether the client knows the context size. */
  readonly known: boolean;
  readonly messages: readonly { readonly words: number; readonly looks: boolean }[];
  readonly resultWords: number;
  /** Where the process dies, as shares of the log. */
  readonly crashes: readonly number[];
}

const filling: fc.Arbitrary<Filling> = fc.record({
  contextTokens: fc.integer({ min: 1200, max: 3000 }),
  known: fc.boolean(),
  messages: fc.array(
    fc.record({
      words: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 4000 })),
      looks: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  resultWords: fc.integer({ min: 1, max: 1200 }),
  crashes: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 6 }),
});

/** Law 6, the other half: the answer is "too long", and compaction gives a request that is not. */
test(
  "whatever filled the context and wherever the process died, the next short message is answered",
  async () => {
    await fc.assert(
      fc.asyncProperty(filling, async (one) => {
        const emulator = await startEmulator({
          clock: instantClock(),
          models: { [MODEL]: { contextTokens: one.contextTokens } },
        });
        try {
          const log = await fill(one, emulator);
          tally.add("events", log.length);
          for (const share of one.crashes) {
            const length = Math.max(1, Math.ceil(share * log.length));
            await goesOn(one, emulator, log.slice(0, length));
          }
          await goesOn(one, emulator, log);
          for (const { verdict, message } of emulator.report().requests) {
            tally.add(`requests: ${verdict}`);
            if (verdict === "refused") expect(message).toContain("context window");
          }
        } finally {
          await emulator.close();
        }
      }),
      runs(QUICK),
    );
    expect(tally.get("compaction by model")).toBeGreaterThan(0);
    expect(tally.get("compaction by log")).toBeGreaterThan(0);
    expect(tally.get("turns that continued")).toBeGreaterThan(QUICK);
  },
  timeoutFor(QUICK),
);

function agentFor(one: Filling, emulator: Emulator) {
  return createAgent({
    model: openai(MODEL, { apiKey: "sk-small-context-key", baseUrl: emulator.baseUrl }),
    tools: [
      tool({
        name: "get_weather",
        description: "Weather of a city",
        input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        run: () => "cloud ".repeat(one.resultWords),
      }),
    ],
    clock: instantClock(),
    limits: { maxSteps: 12, ...(one.known ? { contextTokens: one.contextTokens } : {}) },
  });
}

async function fill(one: Filling, emulator: Emulator): Promise<readonly LoggedEvent[]> {
  const session = await agentFor(one, emulator).open({ id: "s" });
  for (const { words, looks } of one.messages) {
    const text = `${looks ? "What is the weather in Rome and Oslo and Lima?" : "Well,"} ${"word ".repeat(words)}`;
    const { status, reason } = await session.send(text).result();
    tally.add(`turns: ${status}${reason === undefined ? "" : `, ${reason}`}`);
    expect(["completed", "incomplete"]).toContain(status);
  }
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) {
    if (event.type === "compaction") tally.add(`compaction by ${event.by ?? "nobody"}`);
    events.push(event);
  }
  await session.close();
  return events;
}

async function goesOn(one: Filling, emulator: Emulator, events: readonly LoggedEvent[]): Promise<void> {
  const session = await agentFor(one, emulator).open({ id: "s", store: await storeWith("s", events) });
  const result = await session.send("Thanks").result();
  expect(result, `after ${events.length} events: ${JSON.stringify(result)}`).toMatchObject({
    status: "completed",
  });
  tally.add("turns that continued");
  await session.close();
}
