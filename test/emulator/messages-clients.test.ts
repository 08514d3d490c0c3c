/** Real clients agree: the official SDK and the AI SDK run tool loops with thinking against the strict emulator. */

import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import type { Emulator } from "../../src/emulator/index.ts";
import { emulatorFor } from "./emulator-client.ts";

const weatherTool: Anthropic.Tool = {
  name: "get_weather",
  description: "Weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const fileTools: Anthropic.Tool[] = ["list_files", "read_file", "search_files", "write_file"].map((name) => ({
  name,
  input_schema: { type: "object", properties: { path: { type: "string" } } },
}));

const clientOf = (emulator: Emulator): Anthropic =>
  new Anthropic({ baseURL: emulator.url, apiKey: "sk-ant-test", maxRetries: 0 });

function resultsOf(message: Anthropic.Message): Anthropic.ToolResultBlockParam[] {
  return message.content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result", tool_use_id: block.id, content: `sunny for ${JSON.stringify(block.input)}` }]
      : [],
  );
}

const verdicts = (emulator: Emulator): unknown =>
  emulator.report().requests.map((one) => [one.verdict, one.rule, one.recall, one.prefixStable]);

async function loop(
  emulator: Emulator,
  settings: Omit<Anthropic.MessageCreateParamsNonStreaming, "messages">,
  prompts: readonly string[],
): Promise<Anthropic.Message[]> {
  const client = clientOf(emulator);
  const messages: Anthropic.MessageParam[] = [];
  const all: Anthropic.Message[] = [];
  for (const content of prompts) {
    messages.push({ role: "user", content });
    for (let results: Anthropic.ToolResultBlockParam[] = [], more = true; more;) {
      if (results.length > 0) messages.push({ role: "user", content: results });
      const message = await client.messages.stream({ ...settings, messages }).finalMessage();
      all.push(message);
      messages.push({ role: "assistant", content: message.content });
      results = resultsOf(message);
      more = results.length > 0;
    }
  }
  return all;
}

describe("@anthropic-ai/sdk", () => {
  const models = ["emu-claude", "emu-claude-bound"];
  const modes: Anthropic.ThinkingConfigParam[] = [
    { type: "adaptive" },
    { type: "adaptive", display: "omitted" },
    { type: "enabled", budget_tokens: 2000 },
  ];
  test.each(models.flatMap((model) => modes.map((thinking) => [model, thinking] as const)))(
    "the stream helper runs tool loops with thinking: %s %j",
    async (model, thinking) => {
      const emulator = await emulatorFor();
      const settings = { model, max_tokens: 8000, thinking, tools: [weatherTool, ...fileTools] };
      const all = await loop(emulator, settings, [
        "Compare the weather in Paris and Rome.",
        "Do the five-step chain.",
        "Look at two files, thinking in between: a.txt and b.txt",
        "Think in secret.",
        "Think of a number.",
        "Which number was it?",
      ]);
      for (const one of emulator.report().requests) {
        expect([one.verdict, one.rule, one.recall, one.prefixStable]).toEqual(["accepted", null, 1, true]);
      }
      const kinds = all.flatMap((message) => message.content.map((block) => block.type));
      expect(new Set(kinds)).toEqual(new Set(["thinking", "redacted_thinking", "tool_use", "text"]));
      expect(all.at(-1)?.content.at(-1)).toMatchObject({ text: expect.stringContaining("I thought of ") });
    },
  );

  test("create, countTokens, models", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "What is the weather in Oslo?" }];
    const message = await client.messages.create({
      model: "emu-claude-plain",
      max_tokens: 500,
      messages,
      tools: [weatherTool],
    });
    expect([message.stop_reason, message.content.map((block) => block.type)]).toEqual([
      "tool_use",
      ["tool_use"],
    ]);
    const count = await client.messages.countTokens({ model: "emu-claude", messages });
    expect(count.input_tokens).toBeGreaterThan(10);
    const listed: string[] = [];
    for await (const model of client.models.list()) listed.push(model.id);
    expect(listed).toEqual([
      "emu-claude",
      "emu-claude-bound",
      "emu-claude-adaptive",
      "emu-claude-5.5",
      "emu-claude-between",
      "emu-claude-plain",
    ]);
    expect((await client.models.retrieve("claude-sonnet-5")).id).toBe("claude-sonnet-5");
    await expect(client.models.retrieve("emu-plain")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  test("the beta method: drop_block, and the blocks it dropped", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const settings = {
      model: "emu-claude-bound",
      max_tokens: 4000,
      betas: ["thinking-binding-controls-2026-08-01" as const],
      thinking: {
        type: "adaptive" as const,
        block_binding: { prefix_mismatch_behavior: "drop_block" as const },
      },
    };
    const first = { role: "user" as const, content: "Think of a number." };
    const one = await client.beta.messages.create({ ...settings, messages: [first] });
    expect(one.input_transformations).toEqual([]);
    const messages = [
      first,
      { role: "assistant" as const, content: one.content },
      { role: "user" as const, content: "Which one?" },
    ];
    const two = await client.beta.messages.create({ ...settings, system: "Something new.", messages });
    expect(two.input_transformations).toEqual([
      { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
    ]);
  });

  test("errors are the SDK's own classes, with the request id", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const settings = { model: "emu-claude", max_tokens: 100 };
    const fails = (fault: string): Promise<unknown> =>
      client.messages
        .create(
          { ...settings, messages: [{ role: "user", content: "hello" }] },
          { headers: { "x-emulator-fault": fault } },
        )
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
    const limited = await fails("429=retry-after:2");
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError);
    expect(limited).toMatchObject({ status: 429, error: { error: { type: "rate_limit_error" } } });
    expect((limited as InstanceType<typeof Anthropic.APIError>).requestID).toMatch(/^req_/);
    expect((limited as InstanceType<typeof Anthropic.APIError>).headers?.get("retry-after")).toBe("2");
    expect(await fails("529")).toMatchObject({
      status: 529,
      error: { error: { type: "overloaded_error", message: "Overloaded" } },
    });
    const bad = client.messages.create({ ...settings, messages: [] });
    await expect(bad).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  });

  test("an error event and a spliced beginning reach the stream helper", async () => {
    const emulator = await emulatorFor({
      faults: [
        { type: "error-event", shape: "nested" },
        { type: "spliced-start", events: 4 },
      ],
    });
    const client = clientOf(emulator);
    const params = {
      model: "emu-claude",
      max_tokens: 1000,
      messages: [{ role: "user" as const, content: "hello" }],
    };
    await expect(client.messages.stream(params).finalMessage()).rejects.toThrow("Overloaded");
    await expect(client.messages.stream(params).finalMessage()).rejects.toThrow("message_start");
  });
});

const modelOf = (emulator: Emulator, id: string) =>
  createAnthropic({ baseURL: emulator.baseUrl, apiKey: "sk-ant-test" })(id);

describe("AI SDK", () => {
  const weather = tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
  });
  test.each([
    ["emu-claude", { type: "enabled", budgetTokens: 2000 }],
    ["emu-claude", { type: "adaptive" }],
    ["emu-claude-bound", { type: "adaptive" }],
  ] as const)("generateText runs several steps with thinking: %s %j", async (id, thinking) => {
    const emulator = await emulatorFor();
    const { text, steps } = await generateText({
      model: modelOf(emulator, id),
      maxOutputTokens: 4000,
      prompt: "Compare the weather in Paris and Rome.",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(5),
      providerOptions: { anthropic: { thinking } },
    });
    expect(text).toContain("sunny in Rome");
    expect(steps.map((step) => step.reasoningText !== undefined)).toEqual([true, true]);
    expect(verdicts(emulator)).toEqual([
      ["accepted", null, 1, true],
      ["accepted", null, 1, true],
    ]);
  });

  test("streamText shows the thinking and counts it", async () => {
    const emulator = await emulatorFor();
    const run = streamText({
      model: modelOf(emulator, "emu-claude"),
      maxOutputTokens: 4000,
      prompt: "What is the weather in Paris?",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(5),
      providerOptions: { anthropic: { thinking: { type: "adaptive" } } },
    });
    let reasoning = "";
    for await (const part of run.fullStream) if (part.type === "reasoning-delta") reasoning += part.text;
    expect(await run.text).toContain("sunny in Paris");
    expect(reasoning).toContain("I need the weather of Paris.");
    expect(emulator.report().requests.map((one) => one.verdict)).toEqual(["accepted", "accepted"]);
  });
});
