/** The AI SDK on the Messages API: whole and streamed, with thinking as each model takes it. */
import assert from "node:assert/strict";

import { weather } from "../weather.mjs";

export const client = {
  name: "ai-sdk-anthropic",
  packages: ["ai@latest", "@ai-sdk/anthropic@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const sdk = await import("ai");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const { z } = await import("zod");
    const anthropic = createAnthropic({ baseURL: baseUrl, apiKey: key });
    const tools = {
      [weather.name]: sdk.tool({
        description: weather.description,
        inputSchema: z.object({ city: z.string() }),
        execute: async (input) => weather.run(input),
      }),
    };
    for (const [model, thinking] of [
      ["emu-claude", { type: "enabled", budgetTokens: 2000 }],
      ["emu-claude", { type: "adaptive" }],
      ["emu-claude-bound", { type: "adaptive" }],
      ["emu-claude-5.5", { type: "adaptive" }],
      ["claude-opus-5-5", { type: "adaptive" }],
    ])
      for (const way of ["generateText", "streamText"]) {
        const settings = {
          model: anthropic(model),
          tools,
          maxOutputTokens: 8000,
          stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
          providerOptions: { anthropic: { thinking } },
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
