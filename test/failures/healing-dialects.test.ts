/**
 * A refusal in another dialect is healed once and permanently: classified by its own text, corrected by an event, never
 * met again.
 */

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
  test("signatures that are no longer valid (C03) are omitted after one refusal, and later ones go back again", async () => {
    await withEmulator(async (emulator) => {
      const session = await open(claudeAt(emulator));
      await session.send("What is the weather in Paris?").text();
      emulator.addFaults({ type: "rotate-key" });
      expect((await session.send("Hello").result()).status).toBe("completed");
      expect((await session.send("What is the weather in Rome?").result()).status).toBe("completed");
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      // One for each of the two answers the error names, in turn.
      expect(refused.map(({ report }) => report?.rule)).toEqual(["C03", "C03"]);
      const events = await eventsOf(session);
      expect(events.filter((event) => event.type === "replay_override").length).toBeGreaterThan(0);
      expect(events.some((event) => event.type === "notice" && event.code === "healed")).toBe(true);
      const last = emulator.exchanges.at(-1);
      expect(last?.report?.sent.length).toBeGreaterThan(0);
      await session.close();
    });
  });

  test("thoughts bound to their prefix (C04) are omitted after one refusal, however many there are", async () => {
    const emulator = await startEmulator({
      clock: instantClock(),
      models: { "claude-sonnet-4": { prefixBound: true } },
    });
    const store = memoryStore();
    const ask = async (system: string, prompts: readonly string[]): Promise<void> => {
      const agent = createAgent({
        model: claudeAt(emulator, "claude-sonnet-4"),
        system,
        clock: instantClock(),
      });
      const session = await agent.open({ id: "s", store });
      for (const prompt of prompts)
        expect((await session.send(prompt).result()).status, prompt).toBe("completed");
      await session.close();
    };
    try {
      await ask("Be brief.", ["One?", "Two?", "Three?"]);
      await ask("Be long.", ["Four?", "Five?"]);
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      expect(refused.map(({ report }) => report?.rule)).toEqual(["C04"]);
      // Thoughts after the change are bound to the current prefix, and go back.
      expect(emulator.exchanges.at(-1)?.report?.sent).toHaveLength(1);
    } finally {
      await emulator.close();
    }
  });

  test.each([
    "messages.1.content.1: `web_search` tool use with id `srvtoolu_0` was found without a corresponding `web_search_tool_result` block",
    "messages.1.content.1: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_0. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
  ])("a server tool's pair that is refused is permanently omitted as a whole: %s", async (message) => {
    await withEmulator(async (emulator) => {
      const model = anthropic("emu-claude", {
        baseUrl: emulator.baseUrl.replace(/\/v1$/, ""),
        apiKey: "k",
        providerTools: ["web_search_20260318"],
      });
      const session = await open(model);
      await session.send("Search the web for release notes.").text();
      emulator.addFaults({ type: "http", status: 400, message });
      for (const prompt of ["Hello", "Hello again"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const asked = emulator.exchanges.map(({ requestText }) => requestText.includes('"server_tool_use"'));
      expect(asked.slice(0, 2)).toEqual([false, true]);
      expect(asked.slice(2)).not.toContain(true);
      // The answer's thoughts may have to go with it (C01); nothing is refused in the next turn.
      expect(asked.length).toBeLessThanOrEqual(5);
      await session.close();
    });
  });

  test("a call whose name is refused is omitted, and the conversation continues", async () => {
    await withEmulator(async (emulator) => {
      const session = await open(claudeAt(emulator));
      await session.send("What is the weather in Paris?").text();
      const name = "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
      const at = /"type":"thinking"/.test(emulator.exchanges.at(-1)?.requestText ?? "") ? 1 : 0;
      emulator.addFaults({ type: "http", status: 400, message: `messages.1.content.${at}.${name}` });
      expect((await session.send("Hello").result()).status).toBe("completed");
      expect(emulator.exchanges.at(-1)?.requestText).not.toContain('"tool_use"');
      await session.close();
    });
  });

  test("a parameter that an endpoint refuses (SCHEMA) is not sent to it again", async () => {
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

const thinks = (body: string): unknown => (JSON.parse(body) as { thinking: { type: string } }).thinking.type;

describe("chat completions", () => {
  test("the field that a vendor's reasoning arrived in, if refused, is not sent to it again (V03)", async () => {
    await withEmulator(async (emulator) => {
      // Configured as a server that accepts reasoning_content, while it is one that does not.
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

  test("a vendor that asks for thoughts the history lacks (V02) gets a request with thinking off", async () => {
    await withEmulator(async (emulator) => {
      // The profile does not know that this endpoint demands its reasoning back.
      const session = await open(
        openaiChat("emu-deepseek", { baseUrl: emulator.baseUrl, apiKey: "k", profile: "generic-chat" }),
      );
      for (const prompt of ["What is the weather in Paris?", "Hello", "What is the weather in Rome?"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      expect(refused.map(({ report }) => report?.rule)).toEqual(["V02"]);
      await session.close();
    });
  });

  test.each(["emu-kimi-k2.7", "emu-kimi-k3"])(
    "%s always thinks: the calls of another model become a note after one refusal, its own thoughts stay",
    async (model) => {
      await withEmulator(async (emulator) => {
        const { baseUrl } = emulator;
        const session = await open(openaiChat("emu-groq", { baseUrl, apiKey: "k", profile: "groq" }));
        await session.send("What is the weather in Paris?").text();
        await session.setModel(openaiChat(model, { baseUrl, apiKey: "k", profile: "moonshot" }));
        for (const prompt of ["Think of a number.", "What is the weather in Rome?"])
          expect((await session.send(prompt).result()).status).toBe("completed");
        expect(await session.send("Which number was it?").text()).toContain("they came back to me");
        const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
        expect(refused.map(({ report }) => report?.rule)).toEqual(["V01"]);
        expect(emulator.exchanges.at(-1)?.requestText).toContain("Note: tools were called here");
        await session.close();
      });
    },
  );

  test.each([
    ["emu-kimi-k2.6", "moonshot", "Unknown parameter: 'thinking.keep'.", "keep"],
    ["emu-glm", "zai", "Unknown parameter: 'thinking.clear_thinking'.", "clear_thinking"],
    ["emu-glm", "zai", "Unknown parameter: 'thinking'.", "thinking"],
    ["emu-cerebras", "cerebras", "property 'clear_thinking' is unsupported", "clear_thinking"],
    ["emu-vllm", "vllm", "chat_template_kwargs: Extra inputs are not permitted", "chat_template_kwargs"],
    ["emu-minimax", "minimax", "Unknown parameter: 'reasoning_split'.", "reasoning_split"],
    [
      "emu-deepseek",
      "deepseek",
      "Unsupported parameter: 'reasoning_effort' is not supported.",
      "reasoning_effort",
    ],
  ])("%s on %s: a refused parameter is omitted (%s)", async (model, profile, message, field) => {
    await withEmulator(async (emulator) => {
      const session = await open(
        openaiChat(model, { baseUrl: emulator.baseUrl, apiKey: "k", profile, effort: "high" }),
      );
      emulator.addFaults({ type: "http", status: 400, message });
      for (const prompt of ["Hello", "Hello again"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const asked = emulator.exchanges.map(({ requestText }) => requestText.includes(`"${field}"`));
      expect(asked).toEqual([true, false, false]);
      await session.close();
    });
  });

  test("existing thoughts are kept when thinking is switched off because others are missing (V01)", async () => {
    await withEmulator(async (emulator) => {
      const session = await open(
        openaiChat("emu-kimi", { baseUrl: emulator.baseUrl, apiKey: "k", profile: "moonshot" }),
      );
      await session.send("What is the weather in Paris?").text();
      const message =
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1";
      emulator.addFaults({ type: "http", status: 400, message });
      for (const prompt of ["Hello", "Hello again"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const bodies = emulator.exchanges.map(({ requestText }) => requestText);
      expect(bodies.slice(-3).map(thinks)).toEqual(["enabled", "disabled", "disabled"]);
      expect(bodies.at(-1)).toContain("reasoning_content");
      await session.close();
    });
  });

  test("a message order that an endpoint refuses is healed with an assistant message in between", async () => {
    await withEmulator(async (emulator) => {
      const session = await open(
        openaiChat("emu-mistral", { baseUrl: emulator.baseUrl, apiKey: "k", profile: "generic-chat" }),
      );
      // A turn that ends after a tool's result, so that the user's next message follows it.
      emulator.addFaults({ type: "none" }, { type: "http", status: 401 });
      expect((await session.send("What is the weather in Paris?").result()).status).toBe("failed");
      for (const prompt of ["Hello", "Hello again"])
        expect((await session.send(prompt).result()).status).toBe("completed");
      const refused = emulator.exchanges.filter(({ report }) => report?.verdict === "refused");
      expect(refused.map(({ report }) => report?.rule)).toEqual(["X-role-order"]);
      await session.close();
    });
  });
});
