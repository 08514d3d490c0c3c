/** LangChain on the Responses API: the loop by hand (stateless, and by previous response), and its agent. */
import assert from "node:assert/strict";

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
  let { messages } = await agent.invoke({
    messages: [{ role: "user", content: "What is the weather in Oslo?" }],
  });
  assert.match(messages.at(-1).text, /Sunny in Oslo/);
  ({ messages } = await agent.invoke({
    messages: [...messages, { role: "user", content: "Think of a number." }],
  }));
  ({ messages } = await agent.invoke({
    messages: [...messages, { role: "user", content: "Which number was it?" }],
  }));
  assert.match(messages.at(-1).text, /I thought of \d+/);
}
