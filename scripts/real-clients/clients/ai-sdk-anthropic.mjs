/** The AI SDK on the Messages API: streamed and not, with thinking in the form that each model accepts. */
import { conversation } from "../ai-sdk.mjs";
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
