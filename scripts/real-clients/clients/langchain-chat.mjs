/** LangChain on chat completions. It has no field for thoughts, so in scenarios every tool loop on DeepSeek loses them. */
import { LANGCHAIN, appOf } from "../langchain.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "langchain-chat",
  packages: [...LANGCHAIN, "@langchain/openai@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const { ChatOpenAI } = await import("@langchain/openai");
    const { createAgent } = await import("langchain");
    const { look } = await parts();
    const model = new ChatOpenAI({ model: "emu-chat", apiKey: key, configuration: { baseURL: baseUrl } });
    const agent = createAgent({ model, tools: [look] });
    const { messages } = await agent.invoke({
      messages: [{ role: "user", content: "What is the weather in Oslo?" }],
    });
    if (!/Sunny in Oslo/.test(messages.at(-1).text)) throw new Error(messages.at(-1).text);
  },

  scenarios: scenariosOf(
    async ({ baseUrl, key: own, name }) => {
      const { ChatOpenAI } = await import("@langchain/openai");
      const { messages, look } = await parts();
      return appOf(messages, look, {
        models: { own: "emu-deepseek", other: "emu-kimi" },
        modelFor: (model, key = own) =>
          new ChatOpenAI({
            model,
            apiKey: key,
            maxRetries: 0,
            configuration: { baseURL: baseUrl, defaultHeaders: { "x-emulator-conversation": name } },
          }),
        thoughtsOf: (message) => message,
      });
    },
    ["edit-bound", "drop-metadata", "drop-payloads", "empty-thoughts", "orphan-thought", "switch-plain"],
  ),
};

async function parts() {
  const messages = await import("@langchain/core/messages");
  const { tool } = await import("@langchain/core/tools");
  const { z } = await import("zod");
  const look = tool(async (input) => weather.run(input), {
    name: weather.name,
    description: weather.description,
    schema: z.object({ city: z.string() }),
  });
  return { messages, look };
}
