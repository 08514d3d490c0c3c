/** LangChain on the Messages API: a hand-written loop, and its agent. */
import { byAgent, byHand } from "../langchain.mjs";
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
