/** The AI SDK on the Responses API: its default, where the server stores and items are referred to, and without. */
import assert from "node:assert/strict";

import { weather } from "../weather.mjs";

export const client = {
  name: "ai-sdk-openai",
  packages: ["ai@latest", "@ai-sdk/openai@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const sdk = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { z } = await import("zod");
    const openai = createOpenAI({ baseURL: baseUrl, apiKey: key });
    const tools = {
      [weather.name]: sdk.tool({
        description: weather.description,
        inputSchema: z.object({ city: z.string() }),
        execute: async (input) => weather.run(input),
      }),
    };
    for (const store of [undefined, true, false])
      for (const summary of [undefined, "auto"])
        for (const way of ["generateText", "streamText"]) {
          const settings = {
            model: openai.responses("emu-reasoner"),
            tools,
            stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
            providerOptions: { openai: { store, reasoningSummary: summary } },
          };
          await conversation(sdk, settings, way);
        }
  },
};

async function conversation(sdk, settings, way) {
  const messages = [];
  const ask = async (content) => {
    messages.push({ role: "user", content });
    const result = await sdk[way]({ ...settings, messages });
    await result.consumeStream?.();
    const response = await result.response;
    messages.push(...((await result.responseMessages) ?? response.messages));
    return result.text;
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Rome: Sunny in Rome/);
  assert.match(await ask("What is the weather in Oslo?"), /Sunny in Oslo/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}
