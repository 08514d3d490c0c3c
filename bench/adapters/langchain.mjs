/**
 * LangChain: `ChatOpenAI.stream` over the Responses API, with chunks joined by `concat` as its users do. The loop is the
 * plain one from its documentation, which is cheaper than its agent graph.
 *
 * @module
 */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";
import { API_KEY, NOWHERE } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

function modelAt(baseURL, more = {}) {
  const model = new ChatOpenAI({
    model: MODEL,
    apiKey: API_KEY,
    useResponsesApi: true,
    zdrEnabled: true,
    reasoning: { summary: "auto" },
    maxRetries: 0,
    configuration: { baseURL, ...more },
  });
  return model.bindTools([{ type: "function", function: TOOL }]);
}

async function respond(model, messages, seen) {
  let whole;
  const ciphertexts = [];
  for await (const chunk of await model.stream(messages)) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    for (const part of Array.isArray(chunk.content) ? chunk.content : []) {
      if (part.type === "text" && part.text !== undefined && part.text !== "") {
        seen.text += part.text.length;
        seen.onText?.(part.text);
      }
      if (part.type === "reasoning") seen.reasoning += part.reasoning.length;
    }
    for (const { args, name } of chunk.tool_call_chunks ?? []) {
      seen.arguments += args?.length ?? 0;
      if (name !== undefined) seen.calls += 1;
    }
    const ciphertext = chunk.additional_kwargs.reasoning?.encrypted_content;
    if (ciphertext !== undefined) ciphertexts.push(ciphertext);
  }
  seen.ciphertexts = () => ciphertexts;
  return whole;
}

export async function createClient() {
  const models = new Map();
  const at = (url) => {
    let model = models.get(url);
    if (model === undefined) models.set(url, (model = modelAt(url)));
    return model;
  };
  const ask = async (url, seen) => {
    await respond(at(url), [new HumanMessage("Begin.")], seen);
  };
  return {
    ask,
    prepare: async (url) => (seen) => ask(url, seen),
    async loop(url, seen, count, mark, fetch) {
      const outputs = Array.from({ length: count }, (_, step) => toolOutput(step));
      const messages = [new HumanMessage("Begin.")];
      const all = [];
      const model = fetch === undefined ? at(url) : modelAt(url, { fetch });
      for (let step = 0; ; step += 1) {
        const message = await respond(model, messages, seen);
        all.push(...seen.ciphertexts());
        if (message.tool_calls.length === 0) break;
        messages.push(message);
        for (const call of message.tool_calls) {
          mark();
          messages.push(new ToolMessage({ content: outputs[step], tool_call_id: call.id }));
        }
      }
      seen.ciphertexts = () => all;
    },
    async builder(items, more) {
      const { fetch, sent } = captureFetch();
      const model = modelAt(NOWHERE, { fetch });
      const next = new HumanMessage("Go on.");
      const history = messagesOf(items);
      const longer = [...history, next, ...messagesOf(more), next];
      const build = async (turn, stop) => {
        sent.stop = stop;
        await respond(model, turn === 0 ? [...history, next] : longer, {});
        return sent.body;
      };
      return { build };
    },
  };
}

/** Wire items in its own form: the items of an answer are in the message's metadata. */
function messagesOf(items) {
  const messages = [];
  let output = [];
  for (const item of items) {
    switch (item.type) {
      case "message":
        messages.push(new HumanMessage(item.content[0].text));
        break;
      case "reasoning":
        output = [item];
        break;
      case "function_call":
        output.push(item);
        messages.push(
          new AIMessage({
            content: "",
            tool_calls: [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }],
            response_metadata: { output },
          }),
        );
        break;
      default:
        messages.push(new ToolMessage({ content: item.output, tool_call_id: item.call_id }));
    }
  }
  return messages;
}
