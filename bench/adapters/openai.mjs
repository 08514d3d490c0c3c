/**
 * The official SDK: `responses.create` with `stream: true`. It has no tool loop; this is the loop that its users write.
 *
 * @module
 */
import OpenAI from "openai";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";
import { API_KEY, NOWHERE } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

const HEAD = {
  model: MODEL,
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  reasoning: { summary: "auto" },
  tools: [{ type: "function", ...TOOL, strict: false }],
};

async function respond(client, input, seen) {
  let output = [];
  for await (const event of await client.responses.create({ ...HEAD, input })) {
    switch (event.type) {
      case "response.output_text.delta":
        seen.text += event.delta.length;
        seen.onText?.(event.delta);
        break;
      case "response.reasoning_summary_text.delta":
        seen.reasoning += event.delta.length;
        break;
      case "response.function_call_arguments.delta":
        seen.arguments += event.delta.length;
        break;
      case "response.output_item.done":
        if (event.item.type === "function_call") seen.calls += 1;
        break;
      case "response.completed":
        ({ output } = event.response);
        break;
    }
  }
  return output;
}

function clientAt(baseURL, more = {}) {
  return new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 0, ...more });
}

export async function createClient() {
  const clients = new Map();
  const at = (url) => {
    let client = clients.get(url);
    if (client === undefined) clients.set(url, (client = clientAt(url)));
    return client;
  };
  const ask = async (url, seen) => {
    const output = await respond(at(url), [{ role: "user", content: "Begin." }], seen);
    seen.ciphertexts = () => output.flatMap((item) => item.encrypted_content ?? []);
  };
  return {
    ask,
    prepare: async (url) => (seen) => ask(url, seen),
    async loop(url, seen, count, mark, fetch) {
      const outputs = Array.from({ length: count }, (_, step) => toolOutput(step));
      const input = [{ role: "user", content: "Begin." }];
      const all = [];
      const client = fetch === undefined ? at(url) : clientAt(url, { fetch });
      for (let step = 0; ; step += 1) {
        const output = await respond(client, input, seen);
        all.push(...output);
        const calls = output.filter(({ type }) => type === "function_call");
        if (calls.length === 0) break;
        input.push(...output);
        for (const call of calls) {
          JSON.parse(call.arguments);
          mark();
          input.push({ type: "function_call_output", call_id: call.call_id, output: outputs[step] });
        }
      }
      seen.ciphertexts = () => all.flatMap((item) => item.encrypted_content ?? []);
    },
    async builder(items, more) {
      const { fetch, sent } = captureFetch();
      const client = clientAt(NOWHERE, { fetch });
      const next = { role: "user", content: "Go on." };
      const build = async (turn, stop) => {
        sent.stop = stop;
        await respond(client, turn === 0 ? [...items, next] : [...items, next, ...more, next], {});
        return sent.body;
      };
      return { build };
    },
  };
}
