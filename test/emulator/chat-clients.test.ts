/** Real clients agree: `openai` and the AI SDK's DeepSeek package run tool loops against the strict chat dialect. */

import { createDeepSeek } from "@ai-sdk/deepseek";
import { generateObject, generateText, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import type { Emulator } from "../../src/emulator/index.ts";
import { emulatorFor } from "./emulator-client.ts";

// The SDK's warnings (no JSON schema on DeepSeek) are the point of the test.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

type Message = OpenAI.Chat.ChatCompletionMessageParam;

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather of a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
      strict: true,
    },
  },
];

const clientOf = (emulator: Emulator): OpenAI =>
  new OpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test", maxRetries: 0 });

const accepted = (emulator: Emulator): unknown =>
  emulator.report().requests.map((one) => [one.verdict, one.rule, one.recall]);

function resultsOf(message: OpenAI.Chat.ChatCompletionMessage): Message[] {
  return (message.tool_calls ?? []).map((call) => ({
    role: "tool",
    tool_call_id: call.id,
    content: call.type === "function" ? `sunny for ${call.function.arguments}` : "",
  }));
}

describe("openai", () => {
  // The official client has no reasoning field and passes unknown fields through: messages go back unchanged.
  test.each(["emu-chat", "emu-deepseek", "emu-kimi", "emu-mistral", "emu-groq", "emu-router"])(
    "create: a tool loop with %s, messages fed back unchanged",
    async (model) => {
      const emulator = await emulatorFor();
      const client = clientOf(emulator);
      const messages: Message[] = [{ role: "user", content: "Compare the weather in Paris and Rome." }];
      let { message } =
        (await client.chat.completions.create({ model, messages, tools })).choices[0] ?? never();
      expect(message.tool_calls).toHaveLength(2);
      messages.push(message, ...resultsOf(message));
      ({ message } =
        (await client.chat.completions.create({ model, messages, tools })).choices[0] ?? never());
      expect(JSON.stringify(message.content)).toContain("Rome: sunny for");
      messages.push(message, { role: "user", content: "Thank you." });
      await client.chat.completions.create({ model, messages, tools });
      expect(accepted(emulator)).toEqual([
        ["accepted", null, 1],
        ["accepted", null, 1],
        ["accepted", null, 1],
      ]);
    },
  );

  test("stream: the helper joins deltas, and its message is accepted back", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const messages: Message[] = [{ role: "user", content: "Compare the weather in Paris and Rome." }];
    const stream = client.chat.completions.stream({
      model: "emu-chat",
      messages,
      tools,
      stream_options: { include_usage: true },
    });
    const seen: string[] = [];
    stream.on("tool_calls.function.arguments.done", ({ index, arguments: text }) =>
      seen.push(`${index} ${text}`),
    );
    const message = await stream.finalMessage();
    expect(seen).toEqual(['0 {"city":"Paris"}', '1 {"city":"Rome"}']);
    expect((await stream.totalUsage()).total_tokens).toBeGreaterThan(0);
    messages.push(message, ...resultsOf(message));
    const next = client.chat.completions.stream({ model: "emu-chat", messages, tools });
    expect(await next.finalContent()).toContain("- Paris: sunny for");
    expect(emulator.report().requests.map((one) => one.verdict)).toEqual(["accepted", "accepted"]);
  });

  test("runTools runs the whole loop", async () => {
    const emulator = await emulatorFor();
    const runner = clientOf(emulator).chat.completions.runTools({
      model: "emu-chat",
      messages: [{ role: "user", content: "What is the weather in Paris?" }],
      stream: true,
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "Weather of a city",
            parameters: { type: "object", properties: { city: { type: "string" } } },
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => `sunny in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("sunny in Paris");
    expect(emulator.report().requests.map((one) => one.verdict)).toEqual(["accepted", "accepted"]);
  });

  test("parse: structured output and function arguments by zod", async () => {
    const client = clientOf(await emulatorFor());
    const Facts = z.object({ answer: z.string(), count: z.number().int(), state: z.enum(["on", "off"]) });
    const response = await client.chat.completions.parse({
      model: "emu-chat",
      messages: [{ role: "user", content: "Give me the facts as JSON." }],
      response_format: zodResponseFormat(Facts, "facts"),
    });
    const parsed = response.choices[0]?.message.parsed;
    expect(Facts.parse(parsed)).toEqual(parsed);
    const called = await client.chat.completions.parse({
      model: "emu-chat",
      messages: [{ role: "user", content: "What is the weather in Oslo?" }],
      tools: [zodFunction({ name: "get_weather", parameters: z.object({ city: z.string() }) })],
    });
    expect(called.choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments).toEqual({ city: "Oslo" });
  });

  test("errors are the SDK's own classes, with code and request id", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const ask = { model: "emu-chat", messages: [{ role: "user", content: "hello" }] } satisfies Pick<
      OpenAI.Chat.ChatCompletionCreateParamsNonStreaming,
      "model" | "messages"
    >;
    const bad = await client.chat.completions
      .create({ ...ask, max_tokens: 10 })
      .catch((error: unknown) => error);
    expect(bad).toBeInstanceOf(OpenAI.BadRequestError);
    expect(bad).toMatchObject({ status: 400, param: "max_tokens", code: "unsupported_parameter" });
    expect((bad as { requestID?: string }).requestID).toMatch(/^req_/);
    const limited = client.chat.completions.create(ask, {
      headers: { "x-emulator-fault": "429=retry-after-ms:1" },
    });
    await expect(limited).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const gone = client.chat.completions.create({ ...ask, model: "unknown-1" });
    await expect(gone).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const broken = client.chat.completions.stream(ask, {
      headers: { "x-emulator-fault": "error-event=nested" },
    });
    await expect(broken.finalMessage()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});

const modelOf = (emulator: Emulator, id = "emu-deepseek") =>
  createDeepSeek({ baseURL: emulator.baseUrl, apiKey: "sk-test" })(id);

const weather = tool({
  description: "Weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
});

describe("AI SDK, DeepSeek", () => {
  test("generateText runs a tool loop and sends its reasoning back", async () => {
    const emulator = await emulatorFor();
    const { text, steps } = await generateText({
      model: modelOf(emulator),
      prompt: "What is the weather in Paris?",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(5),
    });
    expect(text).toContain("sunny in Paris");
    expect(steps.map((step) => step.reasoningText)).toEqual([
      "I need the weather of Paris.\n\nI call get_weather.",
      "I answer from the results.",
    ]);
    expect(accepted(emulator)).toEqual([
      ["accepted", null, 1],
      ["accepted", null, 1],
    ]);
  });

  test("streamText runs a loop of parallel calls; a V4 model gets its reasoning in later turns too", async () => {
    const emulator = await emulatorFor();
    const messages: ModelMessage[] = [{ role: "user", content: "Compare the weather in Paris and Rome." }];
    const model = modelOf(emulator, "deepseek-v4-pro");
    const settings = { model, tools: { get_weather: weather }, stopWhen: stepCountIs(5) };
    const run = streamText({ ...settings, messages });
    let reasoning = "";
    for await (const part of run.fullStream) if (part.type === "reasoning-delta") reasoning += part.text;
    expect(reasoning).toContain("I call get_weather for each at once.");
    expect(await run.text).toContain("- Rome: sunny in Rome");
    expect((await run.usage).totalTokens).toBeGreaterThan(0);
    messages.push(...(await run.response).messages, {
      role: "user",
      content: "What is the weather in Oslo?",
    });
    expect((await generateText({ ...settings, messages })).text).toContain("sunny in Oslo");
    expect(accepted(emulator)).toEqual(Array.from({ length: 4 }, () => ["accepted", null, 1]));
  });

  test("the same client under an unknown name drops old reasoning, and is refused as by the real API", async () => {
    const emulator = await emulatorFor();
    const messages: ModelMessage[] = [{ role: "user", content: "What is the weather in Paris?" }];
    const settings = { model: modelOf(emulator), tools: { get_weather: weather }, stopWhen: stepCountIs(5) };
    const { response } = await generateText({ ...settings, messages });
    messages.push(...response.messages, { role: "user", content: "And in Oslo?" });
    await expect(generateText({ ...settings, messages, maxRetries: 0 })).rejects.toThrow(
      "must be passed back to the API",
    );
    expect(emulator.report().requests.at(-1)?.rule).toBe("V02");
  });

  test("generateObject gets valid JSON", async () => {
    const { object } = await generateObject({
      model: modelOf(await emulatorFor()),
      prompt: "Give me the facts as JSON.",
      schema: z.object({ emulator: z.string(), answer: z.string() }),
    });
    expect(object.emulator).not.toBe("");
  });
});

function never(): never {
  throw new Error("no choice came");
}
