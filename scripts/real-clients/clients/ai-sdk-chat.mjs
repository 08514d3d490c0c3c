/** The AI SDK on chat completions; in scenarios with its provider for DeepSeek, and with one that has no field for thoughts. */
import assert from "node:assert/strict";

import { appOf, conversation, toolsOf } from "../ai-sdk.mjs";
import { scenariosOf } from "../scenarios.mjs";

export const client = {
  name: "ai-sdk-chat",
  packages: ["ai@latest", "@ai-sdk/deepseek@latest", "@ai-sdk/openai@latest", "zod@latest"],

  async run({ baseUrl, key }) {
    const sdk = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { z } = await import("zod");
    for (const way of ["generateText", "streamText"]) {
      const result = await sdk[way]({
        model: createOpenAI({ baseURL: baseUrl, apiKey: key }).chat("emu-chat"),
        tools: toolsOf(sdk, z),
        stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
        prompt: "Compare the weather in Paris and Rome.",
      });
      assert.match(await result.text, /Rome: Sunny in Rome/);
    }
  },

  scenarios: {
    ...scenariosOf(
      (order) => deepSeek(order),
      ["edit-bound", "drop-metadata", "drop-payloads", "switch-plain"],
    ),
    "as-it-is": async ({ baseUrl, key }) => {
      const sdk = await import("ai");
      const { createDeepSeek } = await import("@ai-sdk/deepseek");
      const { z } = await import("zod");
      for (const way of ["generateText", "streamText"]) {
        const settings = {
          model: createDeepSeek({ baseURL: baseUrl, apiKey: key })("emu-deepseek"),
          tools: toolsOf(sdk, z),
          stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
        };
        await conversation(sdk, settings, way);
      }
    },
    "no-field": async (order) => {
      const app = await deepSeek(order, "@ai-sdk/openai");
      const history = await app.send([app.user("What is the weather in Paris?")]);
      await app.send([...history, app.user("And in Rome? What is the weather there?")]);
    },
  },
};

async function deepSeek({ baseUrl, key: own, name }, provider = "@ai-sdk/deepseek") {
  const sdk = await import("ai");
  const { createDeepSeek, createOpenAI } = await import(provider);
  const { z } = await import("zod");
  return appOf(sdk, {
    name,
    models: { own: "emu-deepseek", other: "emu-kimi" },
    settingsFor: (model, key = own) => ({
      model:
        createDeepSeek?.({ baseURL: baseUrl, apiKey: key })(model) ??
        createOpenAI({ baseURL: baseUrl, apiKey: key }).chat(model),
      tools: toolsOf(sdk, z),
      stopWhen: sdk.isStepCount?.(5) ?? sdk.stepCountIs(5),
    }),
  });
}
