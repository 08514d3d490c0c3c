/** The official client on the Messages API, with a hand-written loop, streamed and not. */
import assert from "node:assert/strict";

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
