/** Histories that published clients really made, in the shape in which their documents say to store them. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import {
  generateText,
  type ModelMessage,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
} from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { z } from "zod";

import { importHistory } from "../../src/diagnostics/import/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { anthropic, createAgent, memoryStore, type Model, openai, openaiChat } from "../../src/index.ts";
import { emulatorFor } from "../emulator/emulator-client.ts";
import { instantClock } from "../support/instant-clock.ts";

const KEY = "sk-test";
const PROMPT = "What is the weather in Paris?";
const tools = {
  get_weather: tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
};
const responses = ({ baseUrl }: Emulator): Model => openai("emu-reasoner", { baseUrl, apiKey: KEY });
const claude = ({ url }: Emulator): Model => anthropic("emu-claude", { baseUrl: url, apiKey: KEY });
const chat = ({ baseUrl }: Emulator): Model =>
  openaiChat("emu-deepseek", { baseUrl, apiKey: KEY, profile: "deepseek" });
const stateless = { store: false, include: ["reasoning.encrypted_content"] };
const thinking = { anthropic: { thinking: { type: "adaptive" } } } as const;

async function aiSdkUi(emulator: Emulator): Promise<string> {
  const asked: UIMessage = { id: "m1", role: "user", parts: [{ type: "text", text: PROMPT }] };
  const result = streamText({
    model: createOpenAI({ baseURL: emulator.baseUrl, apiKey: KEY }).responses("emu-reasoner"),
    prompt: PROMPT,
    tools,
    stopWhen: stepCountIs(4),
    providerOptions: { openai: stateless },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({
    stream: result.toUIMessageStream({ sendReasoning: true }),
  }))
    last = message;
  return JSON.stringify([asked, last]);
}

async function aiSdkModel(
  model: Parameters<typeof generateText>[0]["model"],
  providerOptions: object,
): Promise<string> {
  const messages: ModelMessage[] = [{ role: "user", content: PROMPT }];
  const result = await generateText({
    model,
    messages,
    tools,
    stopWhen: stepCountIs(4),
    providerOptions: providerOptions as never,
  });
  return JSON.stringify([...messages, ...result.response.messages]);
}

async function openaiLoop(emulator: Emulator): Promise<string> {
  const client = new OpenAI({ baseURL: emulator.baseUrl, apiKey: KEY, maxRetries: 0 });
  const parameters = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: PROMPT }];
  for (let more = true; more;) {
    const { output } = await client.responses.create({
      model: "emu-reasoner",
      store: false,
      include: ["reasoning.encrypted_content"],
      input,
      tools: [{ type: "function", name: "get_weather", parameters, strict: true }],
    });
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    const calls = output.filter((item) => item.type === "function_call");
    input.push(
      ...calls.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "sunny" })),
    );
    more = calls.length > 0;
  }
  return JSON.stringify({ model: "emu-reasoner", input });
}

async function anthropicLoop({ url }: Emulator): Promise<string> {
  const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
  const input_schema = {
    type: "object" as const,
    properties: { city: { type: "string" } },
    required: ["city"],
  };
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: PROMPT }];
  for (let more = true; more;) {
    const { content } = await client.messages.create({
      model: "emu-claude",
      max_tokens: 4000,
      thinking: { type: "adaptive" },
      messages,
      tools: [{ name: "get_weather", input_schema }],
    });
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    more = calls.length > 0;
    if (more)
      messages.push({
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "sunny" })),
      });
  }
  return JSON.stringify(messages);
}

const CLIENTS: Readonly<
  Record<
    string,
    readonly [
      format: string,
      home: (emulator: Emulator) => Model,
      make: (emulator: Emulator) => Promise<string>,
    ]
  >
> = {
  "AI SDK UIMessages of OpenAI": ["ai-sdk-ui", responses, aiSdkUi],
  "AI SDK ModelMessages of OpenAI": [
    "ai-sdk-model",
    responses,
    (emulator) =>
      aiSdkModel(createOpenAI({ baseURL: emulator.baseUrl, apiKey: KEY }).responses("emu-reasoner"), {
        openai: stateless,
      }),
  ],
  "AI SDK ModelMessages of Claude": [
    "ai-sdk-model",
    claude,
    (emulator) =>
      aiSdkModel(createAnthropic({ baseURL: emulator.baseUrl, apiKey: KEY })("emu-claude"), thinking),
  ],
  "the openai client's input": ["responses", responses, openaiLoop],
  "the Anthropic client's messages": ["messages", claude, anthropicLoop],
};

test.each(Object.entries(CLIENTS))(
  "%s goes home with all its thoughts, and abroad without",
  async (_, [format, home, make]) => {
    const emulator = await emulatorFor();
    const history = await make(emulator);
    const from = home(emulator);
    for (const model of [from, responses(emulator), claude(emulator), chat(emulator)]) {
      const store = memoryStore();
      const report = await importHistory(store, history, { from });
      expect(report).toMatchObject({ format, responses: 2, thoughtsDropped: {}, leftOut: [] });
      expect(report.thoughts).toBeGreaterThan(0);
      const before = emulator.report().requests.length;
      const session = await createAgent({ model, clock: instantClock(), limits: { maxRetries: 0 } }).open({
        id: report.id,
        store,
      });
      const { status } = await session.send("Thanks. And what did you think?").result();
      await session.close();
      expect(status).toBe("completed");
      const [request] = emulator.report().requests.slice(before);
      const isHome = model.label === from.label;
      expect(request).toMatchObject({ verdict: "accepted", foreign: [], modified: [] });
      expect(request?.sent).toHaveLength(isHome ? report.thoughts : 0);
    }
  },
);
