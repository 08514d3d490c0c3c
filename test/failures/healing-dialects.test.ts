/** A refusal in another dialect is healed once and for good: named in its own words, corrected by an event, never met again. */

import { describe, expect, test } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import {
  anthropic,
  createAgent,
  type LoggedEvent,
  memoryStore,
  type Model,
  openaiChat,
  type Session,
} from "../../src/index.ts";
import { instantClock } from "../support/instant-clock.ts";
import { practiceTools } from "../support/practice-tools.ts";

async function withEmulator<T>(run: (emulator: Emulator) => Promise<T>): Promise<T> {
  const emulator = await startEmulator({ clock: instantClock() });
  try {
    return await run(emulator);
  } finally {
    await emulator.close();
  }
}

function open(model: Model, system = "Be brief."): Promise<Session> {
  const agent = createAgent({
    model,
    system,
    tools: practiceTools({ began: () => undefined }),
    permissions: "auto",
    clock: instantClock(),
  });
  return agent.open({ id: "s", store: memoryStore() });
}

async function eventsOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

const claudeAt = ({ baseUrl }: Emulator, name = "emu-claude", apiKey = "key-one"): Model =>
  anthropic(name, { baseUrl: baseUrl.replace(/\/v1$/, ""), apiKey });

describe("Claude", () => {
  test("signatures that no longer hold (C03) are left out after one refusal, and later ones go back again", async () => {
    await withEmulator(async (emulator) => {
      const session = await open(claudeAt(emulator));
      await session.send("What is the weather in Paris?").text();
      emulator.addFaults({ type: "rotate-key" });
      expect((await session.send("Hello").result()).status).toBe("completed");
      expect((await session.send("What is the weather in Rome?").result()).status).toBe("completed");
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      // One for each of the two answers the error names, one after the other.
      expect(refused.map(({ report }) => report?.rule)).toEqual(["C03", "C03"]);
      const events = await eventsOf(session);
      expect(events.filter((event) => event.type === "replay_override").length).toBeGreaterThan(0);
      expect(events.some((event) => event.type === "notice" && event.code === "healed")).toBe(true);
      const last = emulator.exchanges.at(-1);
      expect(last?.report?.sent.length).toBeGreaterThan(0);
      await session.close();
    });
  });

  test("an endpoint that refuses a parameter (SCHEMA) is not sent it again", async () => {
    await withEmulator(async (emulator) => {
      const message = "output_config: Extra inputs are not permitted";
      emulator.addFaults({ type: "http", status: 400, message });
      const session = await open(
        anthropic("emu-claude", {
          baseUrl: emulator.baseUrl.replace(/\/v1$/, ""),
          apiKey: "k",
          effort: "high",
        }),
      );
      expect(await session.send("Hello").result()).toMatchObject({ status: "completed" });
      expect((await session.send("Hello again").result()).status).toBe("completed");
      const bodies = emulator.exchanges.map(
        ({ requestText }) => "output_config" in (JSON.parse(requestText) as object),
      );
      expect(bodies).toEqual([true, false, false]);
      await session.close();
    });
  });
});

describe("chat completions", () => {
  test("a vendor that refuses the field its reasoning came in is not sent it again (V03)", async () => {
    await withEmulator(async (emulator) => {
      // Told to be a server that takes reasoning_content back, while it is one that does not.
      const wrong = openaiChat("emu-deepseek-old", {
        baseUrl: emulator.baseUrl,
        apiKey: "k",
        profile: "deepseek",
      });
      const session = await open(wrong);
      for (const prompt of ["What is the weather in Paris?", "Hello", "What is the weather in Rome?"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      expect(refused.length).toBeLessThanOrEqual(2);
      expect(refused.length).toBeGreaterThan(0);
      const after = emulator.exchanges.slice(
        emulator.exchanges.indexOf(refused.at(-1) as (typeof refused)[number]) + 1,
      );
      expect(after.length).toBeGreaterThan(2);
      await session.close();
    });
  });

  test("a vendor that asks for thoughts the history lacks (V02) gets an answer with thinking off", async () => {
    await withEmulator(async (emulator) => {
      // The profile does not know that this endpoint demands its reasoning back.
      const session = await open(
        openaiChat("emu-deepseek", { baseUrl: emulator.baseUrl, apiKey: "k", profile: "generic-chat" }),
      );
      const { status, error } = await session.send("What is the weather in Paris?").result();
      expect({ status, class: error?.class }).toEqual({ status: "failed", class: "ECHO" });
      await session.setModel(
        openaiChat("emu-deepseek", { baseUrl: emulator.baseUrl, apiKey: "k", profile: "deepseek" }),
      );
      expect((await session.send("Hello").result()).status).toBe("completed");
      await session.close();
    });
  });
});
