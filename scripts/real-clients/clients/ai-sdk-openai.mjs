/** The AI SDK on the Responses API: with its default, in which the server stores items and requests refer to them, and without. */
import { appOf, conversation, toolsOf } from "../ai-sdk.mjs";
import { scenariosOf } from "../scenarios.mjs";

export const client = {
  name: "ai-sdk-openai",
  packages: ["ai@latest", "@ai-sdk/openai@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const sdk = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { z } = await import("zod");
    const openai = createOpenAI({ baseURL: baseUrl, apiKey: key });
    const tools = toolsOf(sdk, z);
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

  scenarios: scenariosOf(async ({ baseUrl, key: own, name }) => {
    const sdk = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { z } = await import("zod");
    return appOf(sdk, {
      name,
      models: { own: "emu-reasoner", other: "gpt-5.6", bound: "emu-prefix-bound", plain: "gpt-4.1" },
      settingsFor: (model, key = own) => ({
        model: createOpenAI({ baseURL: baseUrl, apiKey: key }).responses(model),
        tools: toolsOf(sdk, z),
        stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
        providerOptions: {
          openai:
            model === "gpt-4.1"
              ? { store: false }
              : { store: false, reasoningSummary: "auto", forceReasoning: true },
        },
      }),
      withoutPayload: ({ providerOptions, ...part }) => ({
        ...part,
        providerOptions: { openai: { ...providerOptions?.openai, reasoningEncryptedContent: null } },
      }),
    });
  }),
};
