/**
 * The OpenAI Agents SDK: `run` with `stream: true`. If one answer is measured, it stops at its tool calls.
 *
 * @module
 */
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";
import { API_KEY, NOWHERE } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

setTracingDisabled(true);

function agentAt(baseURL, { execute = () => "done", toolUseBehavior = "stop_on_first_tool", ...more } = {}) {
  const client = new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 0, ...more });
  const { name, description, parameters } = TOOL;
  return new Agent({
    name: "bench",
    model: new OpenAIResponsesModel(client, MODEL),
    modelSettings: {
      store: false,
      reasoning: { summary: "auto" },
      providerData: { include: ["reasoning.encrypted_content"] },
    },
    tools: [tool({ name, description, parameters, strict: false, execute })],
    toolUseBehavior,
  });
}

async function respond(agent, input, seen, maxTurns = 1) {
  const ciphertexts = [];
  const result = await run(agent, input, { stream: true, maxTurns });
  for await (const event of result) {
    if (event.type !== "raw_model_stream_event" || event.data.type !== "model") continue;
    const raw = event.data.event;
    switch (raw.type) {
      case "response.output_text.delta":
        seen.text += raw.delta.length;
        seen.onText?.(raw.delta);
        break;
      case "response.reasoning_summary_text.delta":
        seen.reasoning += raw.delta.length;
        break;
      case "response.function_call_arguments.delta":
        seen.arguments += raw.delta.length;
        break;
      case "response.output_item.done":
        if (raw.item.type === "function_call") seen.calls += 1;
        if (raw.item.type === "reasoning") ciphertexts.push(raw.item.encrypted_content);
        break;
    }
  }
  await result.completed;
  seen.ciphertexts = () => ciphertexts;
}

export async function createClient() {
  const agents = new Map();
  const at = (url) => {
    let agent = agents.get(url);
    if (agent === undefined) agents.set(url, (agent = agentAt(url)));
    return agent;
  };
  const ask = (url, seen) => respond(at(url), "Begin.", seen);
  return {
    ask,
    prepare: async (url) => (seen) => ask(url, seen),
    async loop(url, seen, count, mark, fetch) {
      const outputs = Array.from({ length: count }, (_, step) => toolOutput(step));
      let step = 0;
      const execute = () => {
        mark();
        return outputs[step++];
      };
      const given = fetch === undefined ? {} : { fetch };
      const agent = agentAt(url, { execute, toolUseBehavior: "run_llm_again", ...given });
      await respond(agent, "Begin.", seen, count + 1);
    },
    async builder(items, more) {
      const { fetch, sent } = captureFetch();
      const agent = agentAt(NOWHERE, { fetch });
      const next = { role: "user", content: "Go on." };
      const history = itemsOf(items);
      const longer = [...history, next, ...itemsOf(more), next];
      const build = async (turn, stop) => {
        sent.stop = stop;
        await respond(agent, turn === 0 ? [...history, next] : longer, {});
        return sent.body;
      };
      return { build };
    },
  };
}

/** Wire items in the SDK's own form. */
function itemsOf(items) {
  return items.map((item) => {
    switch (item.type) {
      case "message":
        return { role: "user", content: item.content[0].text };
      case "reasoning":
        return {
          type: "reasoning",
          id: item.id,
          content: item.summary.map(({ text }) => ({ type: "input_text", text })),
          providerData: { encrypted_content: item.encrypted_content },
        };
      case "function_call":
        return {
          type: "function_call",
          id: item.id,
          callId: item.call_id,
          name: item.name,
          status: "completed",
          arguments: item.arguments,
        };
      default:
        return {
          type: "function_call_result",
          name: TOOL.name,
          callId: item.call_id,
          status: "completed",
          output: { type: "text", text: item.output },
        };
    }
  });
}
