/** The AI SDK on the Messages API: streamed and not, with thinking in the form that each model accepts. */
import { appOf, conversation, toolsOf } from "../ai-sdk.mjs";
import { scenariosOf } from "../scenarios.mjs";

export const client = {
  name: "ai-sdk-anthropic",
  packages: ["ai@latest", "@ai-sdk/anthropic@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const sdk = await import("ai");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const { z } = await import("zod");
    const anthropic = createAnthropic({ baseURL: baseUrl, apiKey: key });
    const tools = toolsOf(sdk, z);
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

  scenarios: scenariosOf(
    async ({ baseUrl, key: own, name }) => {
      const sdk = await import("ai");
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const { z } = await import("zod");
      return appOf(sdk, {
        name,
        models: { own: "emu-claude", other: "claude-sonnet-4-5", bound: "emu-claude-bound" },
        settingsFor: (model, key = own) => ({
          model: createAnthropic({ baseURL: baseUrl, apiKey: key })(model),
          tools: toolsOf(sdk, z),
          maxOutputTokens: 8000,
          stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
          providerOptions: {
            anthropic: {
              thinking:
                model === "emu-claude-bound" ? { type: "adaptive" } : { type: "enabled", budgetTokens: 2000 },
            },
          },
        }),
        withoutPayload: (part) => ({ ...part, providerOptions: { anthropic: { signature: "" } } }),
      });
    },
    ["switch-plain"],
  ),
};
