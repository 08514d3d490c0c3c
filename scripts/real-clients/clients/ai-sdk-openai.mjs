/** The AI SDK on the Responses API: with its default, in which the server stores items and requests refer to them, and without. */
import { conversation } from "../ai-sdk.mjs";
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
