/** The Agents SDK: its runner runs the tool loop. Histories by hand, by previous response, and streamed. */
import assert from "node:assert/strict";

import { lossesOfParts, omit } from "../losses.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "agents-js",
  packages: ["@openai/agents@latest", "zod@latest"],

  async run() {
    const { Agent, run, setTracingDisabled, tool } = await import("@openai/agents");
    const { z } = await import("zod");
    setTracingDisabled(true);
    const tools = [
      tool({
        name: weather.name,
        description: weather.description,
        parameters: z.object({ city: z.string() }),
        execute: async (input) => weather.run(input),
      }),
    ];
    for (const store of [undefined, false]) {
      const modelSettings = {
        store,
        providerData: store === false ? { include: ["reasoning.encrypted_content"] } : {},
      };
      const agent = new Agent({ name: "Tester", model: "emu-reasoner", tools, modelSettings });
      await byHistory(agent, run);
      if (store !== false) await byResponse(agent, run);
    }
  },

  scenarios: scenariosOf(appOf),
};

async function byHistory(agent, run) {
  let history = [];
  const ask = async (content, stream) => {
    const result = await run(agent, [...history, { role: "user", content }], { stream });
    if (stream) await result.completed;
    history = result.history;
    return result.finalOutput;
  };
  assert.match(await ask("Compare the weather in Paris and Rome.", false), /Rome: Sunny in Rome/);
  assert.match(await ask("What is the weather in Oslo?", true), /Sunny in Oslo/);
  await ask("Think of a number.", true);
  assert.match(await ask("Which number was it?", false), /I thought of \d+/);
}

async function byResponse(agent, run) {
  let previousResponseId;
  const ask = async (content) => {
    const result = await run(agent, content, { previousResponseId });
    previousResponseId = result.lastResponseId;
    return result.finalOutput;
  };
  assert.match(await ask("What is the weather in Lima?"), /Sunny in Lima/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

const KINDS = {
  reasoning: "thought",
  message: "text",
  function_call: "call",
  function_call_result: "result",
};

async function appOf({ baseUrl, key: own, name }) {
  const { Agent, OpenAIProvider, Runner, tool } = await import("@openai/agents");
  const { z } = await import("zod");
  const tools = [
    tool({
      name: weather.name,
      description: weather.description,
      parameters: z.object({ city: z.string() }),
      execute: async (input) => weather.run(input),
    }),
  ];
  const modelSettings = { store: false, providerData: { prompt_cache_key: name } };
  return {
    other: "gpt-5.6",
    bound: "emu-prefix-bound",
    plain: "gpt-4.1",
    user: (content) => ({ role: "user", content }),
    text: ({ content }) => content.map?.(({ text }) => text).join("") ?? content,
    isResult: ({ type }) => type === "function_call_result",
    async send(history, { model = "emu-reasoner", key = own } = {}) {
      const modelProvider = new OpenAIProvider({ apiKey: key, baseURL: baseUrl, useResponses: true });
      const agent = new Agent({ name: "Tester", model, tools, modelSettings });
      const result = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, history);
      return result.history;
    },
    without: lossesOfParts({
      partsOf: (item) => (item === undefined ? [] : [item]),
      withParts: (_, [item]) => item,
      kind: ({ type = "message" }) => KINDS[type],
      bare: (item) => (item.type === "reasoning" ? undefined : omit(item, "id", "providerData")),
      withoutPayload: (item) => omit(item, "providerData"),
      withoutWords: (item) => ({ ...item, content: [], rawContent: [] }),
    }),
  };
}
