/** Real clients agree: the official SDK and the AI SDK run tool loops against the strict emulator. */

import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import type { Emulator } from "../../src/emulator/index.ts";
import { emulatorFor } from "./emulator-client.ts";

const weatherTool = {
  type: "function",
  name: "get_weather",
  description: "Weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
} as const;

const settings = {
  model: "emu-reasoner",
  store: false,
  include: ["reasoning.encrypted_content"],
  reasoning: { effort: "medium", summary: "auto" },
} satisfies Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

const clientOf = (emulator: Emulator): OpenAI =>
  new OpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test", maxRetries: 0 });

function outputs(
  items: readonly OpenAI.Responses.ResponseOutputItem[],
): OpenAI.Responses.ResponseInputItem[] {
  return items.flatMap((item) =>
    item.type === "function_call"
      ? [
          {
            type: "function_call_output" as const,
            call_id: item.call_id,
            output: `sunny for ${item.arguments}`,
          },
        ]
      : [],
  );
}

function accepted(emulator: Emulator): unknown {
  return emulator.report().requests.map((one) => [one.verdict, one.rule, one.recall]);
}

describe("openai", () => {
  test("create: a stateless tool loop, output fed back unchanged", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: "user", content: "Compare the weather in Paris and Rome." },
    ];
    let response = await client.responses.create({ ...settings, input, tools: [weatherTool] });
    let calls = 0;
    while (outputs(response.output).length > 0) {
      calls += outputs(response.output).length;
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]), ...outputs(response.output));
      response = await client.responses.create({ ...settings, input, tools: [weatherTool] });
    }
    expect(calls).toBe(2);
    expect(response.output_text).toContain('Rome: sunny for {"city":"Rome"}');
    expect(accepted(emulator)).toEqual([
      ["accepted", null, 1],
      ["accepted", null, 1],
    ]);
  });

  test("the stream helper checks every id and index, and agrees", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const prompts = [
      "What is the weather in Paris?",
      "Write a long answer.",
      "Think without a summary.",
      "Please refuse this.",
      "Search the web for news.",
    ];
    for (const content of prompts) {
      const stream = client.responses.stream({
        ...settings,
        input: [{ role: "user", content }],
        tools: [weatherTool, { type: "web_search" }],
      });
      const seen: string[] = [];
      for await (const event of stream) seen.push(event.type);
      const final = await stream.finalResponse();
      expect(final.status).toBe("completed");
      expect(seen[0]).toBe("response.created");
      expect(seen.at(-1)).toBe("response.completed");
    }
  });

  test("parse: structured output and function arguments by zod", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const Facts = z.object({ answer: z.string(), count: z.number().int(), state: z.enum(["on", "off"]) });
    const response = await client.responses.parse({
      ...settings,
      input: "Give me the facts as JSON.",
      text: { format: zodTextFormat(Facts, "facts") },
    });
    expect(Facts.parse(response.output_parsed)).toEqual(response.output_parsed);
    const called = await client.responses.parse({
      ...settings,
      input: "What is the weather in Oslo?",
      tools: [zodResponsesFunction({ name: "get_weather", parameters: z.object({ city: z.string() }) })],
    });
    const call = called.output.find((item) => item.type === "function_call");
    expect(call?.type === "function_call" ? call.parsed_arguments : undefined).toEqual({ city: "Oslo" });
  });

  test("stored mode: previous_response_id, retrieve, input items, delete, cancel, token count", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const one = await client.responses.create({
      model: "emu-reasoner",
      input: "What is the weather in Paris?",
      tools: [weatherTool],
    });
    const two = await client.responses.create({
      model: "emu-reasoner",
      previous_response_id: one.id,
      input: outputs(one.output),
      tools: [weatherTool],
    });
    expect(two.output_text).toContain("sunny for");
    expect((await client.responses.retrieve(one.id)).id).toBe(one.id);
    const items = await client.responses.inputItems.list(one.id);
    expect(items.data).toHaveLength(1);
    const queued = await client.responses.create({ model: "emu-reasoner", input: "hello", background: true });
    expect((await client.responses.cancel(queued.id)).status).toBe("cancelled");
    await client.responses.delete(one.id);
    await expect(client.responses.retrieve(one.id)).rejects.toThrow("404");
    const count = await client.responses.inputTokens.count({ model: "emu-reasoner", input: "hello" });
    expect(count.input_tokens).toBeGreaterThan(0);
  });

  test("errors are the SDK's own classes, with code and request id", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const bad = client.responses.create({ ...settings, input: "hello", temperature: 0.5 });
    const error = await bad.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, param: "temperature", code: null });
    expect((error as { requestID?: string }).requestID).toMatch(/^req_/);
    const limited = client.responses.create(
      { ...settings, input: "hello" },
      { headers: { "x-emulator-fault": "429=retry-after-ms:1" } },
    );
    await expect(limited).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  test("its retries get past faults in a row", async () => {
    const emulator = await emulatorFor({
      faults: [
        { type: "http", status: 503, headers: { "retry-after-ms": "1" } },
        { type: "http", status: 429, headers: { "retry-after-ms": "1" } },
      ],
    });
    const client = new OpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test", maxRetries: 2 });
    const response = await client.responses.create({ ...settings, input: "hello" });
    expect(response.status).toBe("completed");
    expect(emulator.report().requests.map((one) => one.outcome)).toEqual([
      "http_error",
      "http_error",
      "completed",
    ]);
  });
});

const modelOf = (emulator: Emulator, id = "gpt-5.6") =>
  createOpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test" }).responses(id);

describe("AI SDK", () => {
  const weather = tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
  });
  // Forced reasoning: the SDK does not know our model ids.
  const openai = {
    store: false,
    forceReasoning: true,
    include: ["reasoning.encrypted_content"],
    reasoningEffort: "medium",
    reasoningSummary: "auto",
  };

  test("generateText runs a tool loop", async () => {
    const emulator = await emulatorFor();
    const { text, steps } = await generateText({
      model: modelOf(emulator),
      prompt: "What is the weather in Paris?",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(5),
      providerOptions: { openai },
    });
    expect(text).toContain("sunny in Paris");
    expect(steps).toHaveLength(2);
    expect(accepted(emulator)).toEqual([
      ["accepted", null, 1],
      ["accepted", null, 1],
    ]);
  });

  test("streamText runs a tool loop of two parallel calls and shows the summaries", async () => {
    const emulator = await emulatorFor();
    const run = streamText({
      model: modelOf(emulator),
      prompt: "Compare the weather in Paris and Rome.",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(5),
      providerOptions: { openai },
    });
    let reasoning = "";
    for await (const part of run.fullStream) if (part.type === "reasoning-delta") reasoning += part.text;
    expect(await run.text).toContain("- Paris: ");
    expect(reasoning).toContain("**Checking several cities**");
    expect(emulator.report().requests.map((one) => one.verdict)).toEqual(["accepted", "accepted"]);
  });

  test("generateObject gets valid JSON", async () => {
    const emulator = await emulatorFor();
    const { object } = await generateObject({
      model: modelOf(emulator),
      prompt: "Give me the facts as JSON.",
      schema: z.object({ answer: z.string(), count: z.number() }),
      providerOptions: { openai },
    });
    expect(typeof object.answer).toBe("string");
  });
});
