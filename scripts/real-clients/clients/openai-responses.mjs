/** The official client on the Responses API, with a hand-written loop: state kept by the server, and by the client. */
import assert from "node:assert/strict";

import { lossesOfParts, omit } from "../losses.mjs";
import { scenariosOf } from "../scenarios.mjs";
import { weather } from "../weather.mjs";

export const client = {
  name: "openai-responses",
  packages: ["openai@latest"],

  async run({ baseUrl, key }) {
    const { default: OpenAI } = await import("openai");
    const openai = new OpenAI({ baseURL: baseUrl, apiKey: key });
    await stateless(openai);
    await stored(openai);
    await streamed(openai);
  },

  scenarios: scenariosOf(appOf),
};

const tools = [
  {
    type: "function",
    name: weather.name,
    description: weather.description,
    parameters: weather.parameters,
    strict: true,
  },
];

/** Answers every call of a response. */
function resultsOf(response) {
  return response.output
    .filter(({ type }) => type === "function_call")
    .map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: weather.run(JSON.parse(call.arguments)),
    }));
}

async function stateless(openai) {
  const input = [];
  const ask = async (text) => {
    input.push({ role: "user", content: text });
    for (;;) {
      const response = await openai.responses.create({
        model: "emu-reasoner",
        input,
        tools,
        store: false,
        include: ["reasoning.encrypted_content"],
      });
      input.push(...response.output);
      const results = resultsOf(response);
      if (results.length === 0) return response.output_text;
      input.push(...results);
    }
  };
  assert.match(await ask("Compare the weather in Paris and Rome."), /Rome: Sunny in Rome/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

async function stored(openai) {
  let previous;
  const ask = async (text) => {
    let input = [{ role: "user", content: text }];
    for (;;) {
      const response = await openai.responses.create({
        model: "emu-reasoner",
        input,
        tools,
        previous_response_id: previous,
      });
      previous = response.id;
      input = resultsOf(response);
      if (input.length === 0) return response.output_text;
    }
  };
  assert.match(await ask("What is the weather in Oslo?"), /Sunny in Oslo/);
  await ask("Think of a number.");
  assert.match(await ask("Which number was it?"), /I thought of \d+/);
}

/** The stream helper adds a field that the API does not know. */
function asIssued(item) {
  const issued = { ...item };
  delete issued.parsed_arguments;
  return issued;
}

async function streamed(openai) {
  const input = [{ role: "user", content: "What is the weather in Lima?" }];
  for (let step = 0; step < 2; step += 1) {
    const stream = openai.responses.stream({ model: "emu-reasoner", input, tools, store: false });
    const response = await stream.finalResponse();
    input.push(...response.output.map(asIssued), ...resultsOf(response));
    if (step === 1) assert.match(response.output_text, /Sunny in Lima/);
  }
}

const KINDS = {
  reasoning: "thought",
  message: "text",
  function_call: "call",
  function_call_output: "result",
};

async function appOf({ baseUrl, key, name }) {
  const { default: OpenAI } = await import("openai");
  const defaultHeaders = { "x-emulator-conversation": name };
  return {
    other: "gpt-5.6",
    bound: "emu-prefix-bound",
    plain: "gpt-4.1",
    user: (content) => ({ role: "user", content }),
    text: (item) => item.content.map?.(({ text }) => text).join("") ?? item.content,
    isResult: ({ type }) => type === "function_call_output",
    async send(input, { model = "emu-reasoner", key: apiKey = key } = {}) {
      const openai = new OpenAI({ baseURL: baseUrl, apiKey, defaultHeaders, maxRetries: 0 });
      const history = [...input];
      for (;;) {
        const response = await openai.responses.create({ model, input: history, tools, store: false });
        const results = resultsOf(response);
        history.push(...response.output, ...results);
        if (results.length === 0) return history;
      }
    },
    without: lossesOfParts({
      partsOf: (item) => (item === undefined ? [] : [item]),
      withParts: (_, [item]) => item,
      kind: ({ type = "message" }) => KINDS[type],
      bare: (item) => (item.type === "reasoning" ? undefined : omit(item, "id", "status", "phase")),
      withoutPayload: (item) => omit(item, "encrypted_content"),
      withoutWords: (item) => ({ ...item, summary: [] }),
    }),
  };
}
