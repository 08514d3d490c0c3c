/** The official client on chat completions: its own tool runner, streamed and not, and a hand-written loop. */
import assert from "node:assert/strict";

import { omit } from "../losses.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "openai-chat",
  packages: ["openai@latest"],

  async run({ baseUrl, key }) {
    const { default: OpenAI } = await import("openai");
    const openai = new OpenAI({ baseURL: baseUrl, apiKey: key });
    for (const stream of [false, true]) await withRunner(openai, stream);
    await byHand(openai);
  },

  scenarios: scenariosOf(appOf, ["edit-bound", "drop-metadata", "switch-plain"]),
};

const declared = { name: weather.name, description: weather.description, parameters: weather.parameters };

async function withRunner(openai, stream) {
  const runner = openai.chat.completions.runTools({
    model: "emu-chat",
    stream,
    messages: [{ role: "user", content: "Compare the weather in Paris and Rome." }],
    tools: [{ type: "function", function: { ...declared, parse: JSON.parse, function: weather.run } }],
  });
  assert.match(await runner.finalContent(), /Rome: Sunny in Rome/);
}

async function byHand(openai) {
  const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
  for (;;) {
    const completion = await openai.chat.completions.create({
      model: "emu-chat",
      messages,
      tools: [{ type: "function", function: declared }],
    });
    const { message } = completion.choices[0];
    messages.push(message);
    if (message.tool_calls === undefined) break;
    for (const call of message.tool_calls) {
      const content = weather.run(JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  assert.match(messages.at(-1).content, /Sunny in Oslo/);
}

const edited = (edit) => (history) => history.flatMap((message) => edit(message) ?? []);

/** On DeepSeek, whose thoughts are a field of the message. */
async function appOf({ baseUrl, key, name }) {
  const { default: OpenAI } = await import("openai");
  const defaultHeaders = { "x-emulator-conversation": name };
  return {
    other: "emu-kimi",
    user: (content) => ({ role: "user", content }),
    text: ({ content }) => content,
    isResult: ({ role }) => role === "tool",
    async send(messages, { model = "emu-deepseek", key: apiKey = key } = {}) {
      const openai = new OpenAI({ baseURL: baseUrl, apiKey, defaultHeaders, maxRetries: 0 });
      const history = [...messages];
      for (;;) {
        const tools = [{ type: "function", function: declared }];
        const { choices } = await openai.chat.completions.create({ model, messages: history, tools });
        const { message } = choices[0];
        history.push(message);
        if (message.tool_calls === undefined) return history;
        for (const call of message.tool_calls) {
          const content = weather.run(JSON.parse(call.function.arguments));
          history.push({ role: "tool", tool_call_id: call.id, content });
        }
      }
    },
    without: {
      reasoning: edited((message) => omit(message, "reasoning_content")),
      payloads: edited((message) =>
        "reasoning_content" in message ? { ...message, reasoning_content: "" } : message,
      ),
      words: edited((message) =>
        "reasoning_content" in message ? { ...message, reasoning_content: " " } : message,
      ),
      tools: edited((message) => (message.tool_calls || message.role === "tool" ? undefined : message)),
      allButText: edited(({ role, content }) =>
        role === "tool" || !content ? undefined : { role, content },
      ),
      allButThoughts: edited((message) => ({ ...omit(message, "tool_calls"), content: "" })),
    },
  };
}
