/** LangChain on the Responses API: a hand-written loop (stateless, and by previous response), and its agent. */
import { LANGCHAIN, appOf, byAgent, byHand } from "../langchain.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "langchain-openai",
  packages: [...LANGCHAIN, "@langchain/openai@latest", "zod@latest"],

  async run() {
    const { ChatOpenAI } = await import("@langchain/openai");
    const { tool } = await import("@langchain/core/tools");
    const { ToolMessage } = await import("@langchain/core/messages");
    const { createAgent } = await import("langchain");
    const { z } = await import("zod");
    const look = tool(async (input) => weather.run(input), {
      name: weather.name,
      description: weather.description,
      schema: z.object({ city: z.string() }),
    });
    for (const zdrEnabled of [false, true])
      for (const streaming of [false, true]) {
        const model = new ChatOpenAI({ model: "emu-reasoner", useResponsesApi: true, zdrEnabled, streaming });
        await byHand(model.bindTools([look]), look, ToolMessage);
        await byAgent(createAgent({ model, tools: [look] }));
      }
  },

  scenarios: scenariosOf(async ({ baseUrl, key: own, name }) => {
    const { ChatOpenAI } = await import("@langchain/openai");
    const messages = await import("@langchain/core/messages");
    const { tool } = await import("@langchain/core/tools");
    const { z } = await import("zod");
    const look = tool(async (input) => weather.run(input), {
      name: weather.name,
      description: weather.description,
      schema: z.object({ city: z.string() }),
    });
    return appOf(messages, look, {
      models: { own: "emu-reasoner", other: "gpt-5.6", bound: "emu-prefix-bound", plain: "gpt-4.1" },
      modelFor: (model, key = own) =>
        new ChatOpenAI({
          model,
          apiKey: key,
          useResponsesApi: true,
          zdrEnabled: true,
          maxRetries: 0,
          configuration: { baseURL: baseUrl, defaultHeaders: { "x-emulator-conversation": name } },
        }),
      thoughtsOf: ({ content, tool_calls, id, additional_kwargs }, edit) => {
        const reasoning = additional_kwargs.reasoning && edit(additional_kwargs.reasoning);
        return new messages.AIMessage({
          content,
          tool_calls,
          id,
          additional_kwargs: { ...additional_kwargs, reasoning },
        });
      },
    });
  }),
};
