/** LangChain on the Messages API: a hand-written loop, and its agent. */
import { LANGCHAIN, appOf, byAgent, byHand } from "../langchain.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "langchain-anthropic",
  packages: [...LANGCHAIN, "@langchain/anthropic@latest", "zod@latest"],

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

  scenarios: scenariosOf(
    async ({ url, key: own, name }) => {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      const messages = await import("@langchain/core/messages");
      const { tool } = await import("@langchain/core/tools");
      const { z } = await import("zod");
      const look = tool(async (input) => weather.run(input), {
        name: weather.name,
        description: weather.description,
        schema: z.object({ city: z.string() }),
      });
      return appOf(messages, look, {
        models: { own: "emu-claude", other: "claude-sonnet-4-5", bound: "emu-claude-bound" },
        modelFor: (model, key = own) =>
          new ChatAnthropic({
            model,
            thinking:
              model === "emu-claude-bound" ? { type: "adaptive" } : { type: "enabled", budget_tokens: 2000 },
            maxTokens: 8000,
            apiKey: key,
            anthropicApiUrl: url,
            maxRetries: 0,
            clientOptions: { defaultHeaders: { "x-emulator-conversation": name } },
          }),
        thoughtsOf: ({ content, tool_calls, id }, edit) => {
          const blocks = Array.isArray(content)
            ? content.flatMap((block) => (block.type === "thinking" ? (edit(block) ?? []) : block))
            : content;
          return new messages.AIMessage({ content: blocks, tool_calls, id });
        },
      });
    },
    ["switch-plain"],
  ),
};
