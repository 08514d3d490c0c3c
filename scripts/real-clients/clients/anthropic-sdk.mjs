/** The official client on the Messages API, with a hand-written loop, streamed and not. */
import assert from "node:assert/strict";

import { lossesOfParts } from "../losses.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "anthropic-sdk",
  packages: ["@anthropic-ai/sdk@latest"],

  async run({ url, key }) {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const anthropic = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    for (const [model, thinking] of [
      ["emu-claude", { type: "adaptive" }],
      ["emu-claude", { type: "enabled", budget_tokens: 2000 }],
      ["emu-claude-bound", { type: "adaptive", display: "summarized" }],
      ["emu-claude-5.5", undefined],
      ["emu-claude-between", { type: "adaptive" }],
    ]) {
      const settings = { model, max_tokens: 8000, tools, ...(thinking && { thinking }) };
      await conversation((messages) => anthropic.messages.create({ ...settings, messages }));
      await conversation((messages) => anthropic.messages.stream({ ...settings, messages }).finalMessage());
    }
    await counted(anthropic);
  },

  scenarios: scenariosOf(appOf, ["switch-plain"]),
};

const tools = [
  { name: weather.name, description: weather.description, input_schema: weather.parameters },
  { type: "web_search_20250305", name: "web_search" },
];

const textOf = ({ content }) => content.map((block) => block.text ?? "").join("");

async function conversation(send) {
  const messages = [];
  const ask = async (content) => {
    messages.push({ role: "user", content });
    for (;;) {
      const message = await send(messages);
      messages.push({ role: "assistant", content: message.content });
      const calls = message.content.filter(({ type }) => type === "tool_use");
      if (calls.length === 0) return textOf(message);
      messages.push({
        role: "user",
        content: calls.map(({ id, input }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: weather.run(input),
        })),
      });
    }
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Sunny in Rome/);
  await ask("Search the web for release notes.");
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

/** Other features of the client: counting, models, a limit that ends the answer. */
async function counted(anthropic) {
  const messages = [{ role: "user", content: "Write a long answer." }];
  const { input_tokens: tokens } = await anthropic.messages.countTokens({ model: "emu-claude", messages });
  assert.ok(tokens > 0);
  const short = await anthropic.messages.create({ model: "emu-claude", max_tokens: 8, messages });
  assert.deepEqual([short.stop_reason, short.usage.output_tokens], ["max_tokens", 8]);
  const models = [];
  for await (const { id } of anthropic.models.list()) models.push(id);
  assert.ok(models.includes("emu-claude"));
}

const KINDS = { thinking: "thought", redacted_thinking: "thought", text: "text" };

async function appOf({ url, key, name }) {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const defaultHeaders = { "x-emulator-conversation": name };
  return {
    other: "claude-sonnet-4-5",
    bound: "emu-claude-bound",
    user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
    text: textOf,
    isResult: ({ content }) => content.some(({ type }) => type === "tool_result"),
    async send(messages, { model = "emu-claude", key: apiKey = key } = {}) {
      const anthropic = new Anthropic({ baseURL: url, apiKey, defaultHeaders, maxRetries: 0 });
      const thinking =
        model === "emu-claude-bound" ? { type: "adaptive" } : { type: "enabled", budget_tokens: 2000 };
      const settings = { model, max_tokens: 8000, tools: tools.slice(0, 1), thinking };
      const history = [...messages];
      for (;;) {
        const { content } = await anthropic.messages.create({ ...settings, messages: history });
        history.push({ role: "assistant", content });
        const calls = content.filter(({ type }) => type === "tool_use");
        if (calls.length === 0) return history;
        const results = calls.map(({ id, input }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: weather.run(input),
        }));
        history.push({ role: "user", content: results });
      }
    },
    without: lossesOfParts({
      partsOf: ({ content }) => content,
      withParts: (message, content) => ({ ...message, content }),
      kind: ({ type }) => KINDS[type],
      bare: (block) => (block.type === "thinking" ? { type: "thinking", thinking: block.thinking } : block),
      withoutPayload: (block) => ({ ...block, signature: "" }),
      withoutWords: (block) => ({ ...block, thinking: "" }),
    }),
  };
}
