/**
 * The official clients as oracles: for the same conversation with tools, their request and ours mean the same. Every
 * difference is named here with its reason; a new one counts as our mistake until it has a reason.
 */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import {
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool as aiTool,
  type LanguageModel,
} from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { anthropic, createAgent, type Model, openai, openaiChat } from "../../src/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { requestDifferences } from "../support/request-differences.ts";
import { weatherTool } from "../support/weather-tool.ts";
import { emulatorFor, type Json } from "./emulator-client.ts";

const system = "Be brief.";
const prompts = ["Compare the weather in Paris and Rome.", "Think of a number.", "Which number was it?"];
const { name, description, parameters } = weatherTool;
const result = "sunny";
const apiKey = "sk-test";

/** The last request holds the whole conversation. */
function lastBody(emulator: Emulator): Json {
  expect(emulator.report().requests.map((one) => [one.verdict, one.recall])).toEqual([
    ["accepted", 1],
    ["accepted", 1],
    ["accepted", 1],
    ["accepted", 1],
  ]);
  return JSON.parse(emulator.exchanges.at(-1)?.requestText ?? "{}") as Json;
}

async function ours(modelAt: (emulator: Emulator) => Model): Promise<Json> {
  const emulator = await emulatorFor();
  const agent = createAgent({ model: modelAt(emulator), tools: [weatherTool], system });
  const session = await agent.open({ id: "s1" });
  afterTest(() => session.close());
  for (const prompt of prompts) await session.send(prompt).result();
  return lastBody(emulator);
}

async function theirs(converse: (emulator: Emulator) => Promise<void>): Promise<Json> {
  const emulator = await emulatorFor();
  await converse(emulator);
  return lastBody(emulator);
}

/** The loop by hand: sends requests until no call is open. */
async function byHand<Call>(options: {
  readonly say: (prompt: string) => void;
  readonly step: () => Promise<readonly Call[]>;
  readonly answer: (calls: readonly Call[]) => void;
}): Promise<void> {
  for (const prompt of prompts) {
    options.say(prompt);
    for (;;) {
      const calls = await options.step();
      if (calls.length === 0) break;
      options.answer(calls);
    }
  }
}

async function officialResponses(emulator: Emulator): Promise<void> {
  const client = new OpenAI({ baseURL: emulator.baseUrl, apiKey, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  await byHand<OpenAI.Responses.ResponseFunctionToolCall>({
    say: (content) => input.push({ role: "user", content }),
    async step() {
      const response = await client.responses.create({
        model: "emu-reasoner",
        instructions: system,
        input,
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoning: { summary: "auto" },
        tools: [{ type: "function", name, description, parameters, strict: true }],
      });
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      return response.output.filter((item) => item.type === "function_call");
    },
    answer: (calls) => {
      for (const { call_id } of calls) input.push({ type: "function_call_output", call_id, output: result });
    },
  });
}

async function officialMessages(emulator: Emulator): Promise<void> {
  const client = new Anthropic({ baseURL: emulator.url, apiKey, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [];
  await byHand<Anthropic.ToolUseBlock>({
    say: (content) => messages.push({ role: "user", content }),
    async step() {
      const answer = client.messages.stream({
        model: "emu-claude",
        system,
        messages,
        max_tokens: 32_000,
        thinking: { type: "adaptive" },
        tools: [{ name, description, input_schema: parameters as Anthropic.Tool.InputSchema }],
      });
      const message = await answer.finalMessage();
      messages.push({ role: "assistant", content: message.content });
      return message.content.filter((block) => block.type === "tool_use");
    },
    answer: (calls) => {
      const content = calls.map(({ id }) => ({
        type: "tool_result" as const,
        tool_use_id: id,
        content: result,
      }));
      messages.push({ role: "user", content });
    },
  });
}

async function officialChat(emulator: Emulator): Promise<void> {
  const client = new OpenAI({ baseURL: emulator.baseUrl, apiKey, maxRetries: 0 });
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "system", content: system }];
  await byHand<OpenAI.Chat.ChatCompletionMessageToolCall>({
    say: (content) => messages.push({ role: "user", content }),
    async step() {
      const completion = await client.chat.completions.create({
        model: "emu-chat-plain",
        messages,
        tools: [{ type: "function", function: { name, description, parameters } }],
      });
      const message = completion.choices[0]?.message;
      if (message !== undefined) messages.push(message);
      return message?.tool_calls ?? [];
    },
    answer: (calls) => {
      for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: result });
    },
  });
}

/** The AI SDK runs the loop itself. */
const aiSdk =
  (
    modelAt: (emulator: Emulator) => LanguageModel,
    providerOptions: NonNullable<Parameters<typeof streamText>[0]["providerOptions"]>,
  ) =>
  async (emulator: Emulator): Promise<void> => {
    const messages: ModelMessage[] = [];
    const look = aiTool({ description, inputSchema: jsonSchema(parameters), execute: async () => result });
    for (const prompt of prompts) {
      messages.push({ role: "user", content: prompt });
      const answer = streamText({
        model: modelAt(emulator),
        system,
        messages,
        tools: { [name]: look },
        stopWhen: stepCountIs(5),
        providerOptions,
      });
      messages.push(...(await answer.response).messages);
    }
  };

const oursOnResponses = (emulator: Emulator): Model =>
  openai("emu-reasoner", { apiKey, baseUrl: emulator.baseUrl });
const oursOnMessages = (emulator: Emulator): Model =>
  anthropic("emu-claude", { apiKey, baseUrl: emulator.url });
const oursOnChat = (emulator: Emulator): Model =>
  openaiChat("emu-chat-plain", { apiKey, baseUrl: emulator.baseUrl, profile: "openai-chat" });

interface Oracle {
  readonly model: (emulator: Emulator) => Model;
  readonly converse: (emulator: Emulator) => Promise<void>;
  /** Each difference, and why it has no meaning, or is ours on purpose. */
  readonly differences: Readonly<Record<string, string>>;
}

const cached = "what stays is marked for the prompt cache; the clients leave that to their users";
const strict = "our schemas are made strict, and it is said";
const usual = "the default of the API, said aloud";
const short = "a message may leave out its type";

const oracles: Readonly<Record<string, Oracle>> = {
  "openai on Responses": {
    model: oursOnResponses,
    converse: officialResponses,
    differences: {
      "input[user].type: only ours": short,
      "parallel_tool_calls: only ours": usual,
      "prompt_cache_key: only ours": cached,
      "stream: only ours": "we always stream",
    },
  },
  "@ai-sdk/openai on Responses": {
    model: oursOnResponses,
    converse: aiSdk(
      (emulator) => createOpenAI({ baseURL: emulator.baseUrl, apiKey }).responses("emu-reasoner"),
      {
        openai: { store: false, reasoningSummary: "auto", forceReasoning: true },
      },
    ),
    differences: {
      "input[assistant].status: only ours": "items go back as they came",
      "input[assistant].type: only ours": short,
      "input[get_weather].id: only ours":
        "items go back unchanged: a call keeps its id next to its reasoning",
      "input[get_weather].status: only ours": "items go back as they came",
      'input[system].role: ours "system", theirs "developer"': "ours stands in `instructions`",
      "input[user].type: only ours": short,
      "parallel_tool_calls: only ours": usual,
      "prompt_cache_key: only ours": cached,
      "tool_choice: only theirs": usual,
      "tools[get_weather].strict: only ours": strict,
    },
  },
  "@anthropic-ai/sdk on Messages": {
    model: oursOnMessages,
    converse: officialMessages,
    differences: {
      "cache_control: only ours": cached,
      "system[text].cache_control: only ours": cached,
      "thinking.display: only ours": "thoughts are shown, in short",
    },
  },
  "@ai-sdk/anthropic on Messages": {
    model: oursOnMessages,
    converse: aiSdk((emulator) => createAnthropic({ baseURL: emulator.baseUrl, apiKey })("emu-claude"), {
      anthropic: { thinking: { type: "adaptive" } },
    }),
    differences: {
      "cache_control: only ours": cached,
      "max_tokens: ours 32000, theirs 4096": "the AI SDK does not know the model and takes little",
      "system[text].cache_control: only ours": cached,
      "thinking.display: only ours": "thoughts are shown, in short",
      "tool_choice: only theirs": usual,
      "tools[get_weather].eager_input_streaming: only theirs": "an option of the AI SDK",
    },
  },
  "openai on chat completions": {
    model: oursOnChat,
    converse: officialChat,
    differences: {
      "messages[assistant].annotations: only theirs":
        "an empty list of the answer that the client sends back",
      "stream: only ours": "we always stream",
      "stream_options: only ours": "usage is asked for",
      "tools[function].function.strict: only ours": strict,
    },
  },
};

test.each(Object.entries(oracles))(
  "%s: the request is the same except for the named differences",
  async (_name, oracle) => {
    const differences = requestDifferences(await ours(oracle.model), await theirs(oracle.converse));
    expect(differences).toEqual(Object.keys(oracle.differences).toSorted());
  },
);

test("a difference of meaning is found", () => {
  const call = { type: "function_call", call_id: "call_a", name: "look", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "call_a", output: "x" };
  const same = {
    input: [
      { ...call, call_id: "call_b" },
      { ...output, call_id: "call_b" },
    ],
  };
  expect(requestDifferences({ input: [call, output] }, same)).toEqual([]);
  expect(
    requestDifferences({ input: [call, output] }, { input: [call, { ...output, output: "y" }] }),
  ).toEqual(['input[function_call_output].output: ours "x", theirs "y"']);
  expect(requestDifferences({ input: [call, output] }, { input: [output, call] })).not.toEqual([]);
  expect(requestDifferences({ input: [call] }, { input: [] })).toEqual(["input: ours look, theirs "]);
});
