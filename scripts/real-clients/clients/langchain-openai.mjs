/** LangChain on the Responses API: a hand-written loop (stateless, and by previous response), and its agent. */
import { byAgent, byHand } from "../langchain.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "langchain-openai",
  packages: ["langchain@latest", "@langchain/core@latest", "@langchain/openai@latest", "zod@latest"],

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
};
