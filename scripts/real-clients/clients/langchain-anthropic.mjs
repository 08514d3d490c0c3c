/** LangChain on the Messages API: the loop by hand, and its agent. */
import assert from "node:assert/strict";

import { weather } from "../weather.mjs";

export const client = {
  name: "langchain-anthropic",
  packages: ["langchain@latest", "@langchain/core@latest", "@langchain/anthropic@latest", "zod@latest"],

  async run({ url, key }) {
    const { ChatAnthropic } = await import("@langchain/anthropic");
    const { tool } = await import("@langchain/core/tools");
    const { ToolMessage } = await import("@langchain/core/messages");
    const { createAgent } = await import("langchain");
    const { z } = await import("zod");
    const look = tool(async (input) => weather.run(input), {
      name: weather.name,
      description: weather.description,
      schema: z.object({ city: z.string() }),
    });
    for (const [name, thinking] of [
      ["emu-claude", { type: "enabled", budget_tokens: 2000 }],
      ["emu-claude", { type: "adaptive" }],
      ["emu-claude-bound", { type: "adaptive" }],
    ])
      for (const streaming of [false, true]) {
        const model = new ChatAnthropic({
          model: name,
          thinking,
          streaming,
          maxTokens: 8000,
          apiKey: key,
          anthropicApiUrl: url,
        });
        await byHand(model.bindTools([look]), look, ToolMessage);
        await byAgent(createAgent({ model, tools: [look] }));
      }
  },
};

async function byHand(model, look, ToolMessage) {
  const messages = [];
  const ask = async (content) => {
    messages.push({ role: "user", content });
    for (;;) {
      const answer = await model.invoke(messages);
      messages.push(answer);
      if (answer.tool_calls.length === 0) return answer.text;
      for (const call of answer.tool_calls) {
        messages.push(new ToolMessage({ tool_call_id: call.id, content: await look.invoke(call.args) }));
      }
    }
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Rome: Sunny in Rome/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

async function byAgent(agent) {
  let messages = [];
  const ask = async (content) => {
    ({ messages } = await agent.invoke({ messages: [...messages, { role: "user", content }] }));
    return messages.at(-1).text;
  };
  assert.match(await ask("What is the weather in Oslo?"), /Sunny in Oslo/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}
