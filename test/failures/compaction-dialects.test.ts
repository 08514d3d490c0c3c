import { afterAll, describe, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  type LoggedEvent,
  type Model,
  openai,
  openaiChat,
  tool,
} from "../../src/index.ts";

const emulators: Emulator[] = [];
afterAll(async () => {
  for (const emulator of emulators) await emulator.close();
});

const KEY = "sk-compaction-dialects-key";
const chat = (profile?: string) => (model: string, emulator: Emulator) =>
  openaiChat(model, {
    apiKey: KEY,
    baseUrl: emulator.baseUrl,
    ...(profile === undefined ? {} : { profile }),
  });
const claude = (model: string, emulator: Emulator): Model =>
  anthropic(model, { apiKey: KEY, baseUrl: emulator.url });

const MODELS: Readonly<Record<string, (model: string, emulator: Emulator) => Model>> = {
  "emu-reasoner": (model, emulator) => openai(model, { apiKey: KEY, baseUrl: emulator.baseUrl }),
  "emu-claude": claude,
  "emu-claude-bound": claude,
  "emu-claude-plain": claude,
  "emu-chat": chat(),
  "emu-deepseek": chat("deepseek"),
  "emu-kimi": chat("moonshot"),
  "emu-mistral": chat("mistral"),
  "emu-groq": chat("groq"),
  "emu-router": chat("openrouter"),
};

const weather = tool({
  name: "get_weather",
  description: "Weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => `Sunny in ${String(city)}. ${"cloud ".repeat(60)}`,
});

async function started(contextTokens?: number): Promise<Emulator> {
  const models = Object.fromEntries(
    Object.keys(MODELS).map((model) => [model, contextTokens === undefined ? {} : { contextTokens }]),
  );
  const emulator = await startEmulator({ models });
  emulators.push(emulator);
  return emulator;
}

describe.each(Object.entries(MODELS))("%s", (name, create) => {
  test("continues after a compaction in a tool loop, an undo across it and a second one", async () => {
    const emulator = await started();
    const session = await createAgent({ model: create(name, emulator), tools: [weather] }).open();
    for (const prompt of ["What is the weather in Paris?", "What is the weather in Rome and Oslo?"])
      expect(await session.send(prompt).result()).toMatchObject({ status: "completed" });
    await session.compact();
    expect(await session.send("What is the weather in Lima?").result()).toMatchObject({
      status: "completed",
    });
    await session.undo();
    await session.undo();
    expect(await session.send("Thanks").result()).toMatchObject({ status: "completed" });
    await session.compact({ keepTurns: 0 });
    await session.compact({ keepTurns: 0 }).catch(() => undefined);
    expect(await session.send("What is the weather in Bonn?").result()).toMatchObject({
      status: "completed",
    });
    const refused = emulator.report().requests.filter(({ verdict }) => verdict === "refused");
    expect(refused.map(({ rule, message }) => `${String(rule)}: ${String(message)}`)).toEqual([]);
    await session.close();
  });

  test("compacts automatically when a request is too long, and answers", async () => {
    const emulator = await started(1500);
    const session = await createAgent({ model: create(name, emulator), tools: [weather] }).open();
    for (let index = 0; index < 5; index += 1) {
      const { status, error } = await session
        .send(`What is the weather in Rome and Oslo? ${"word ".repeat(150)}`)
        .result();
      expect(status, error?.message).toBe("completed");
    }
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    expect(events.filter(({ type }) => type === "compaction").length).toBeGreaterThan(0);
    const others = events.flatMap((event) =>
      event.type === "response_end" && event.error !== undefined && event.error.class !== "LIMIT"
        ? [event.error]
        : [],
    );
    expect(others).toEqual([]);
    await session.close();
  });
});
