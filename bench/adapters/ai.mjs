/**
 * The AI SDK: `streamText` over `@ai-sdk/openai`, read through `result.stream`, which has all parts.
 *
 * @module
 */
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, jsonSchema, streamText, tool } from "ai";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";
import { API_KEY, NOWHERE } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

const OPENAI = { store: false, include: ["reasoning.encrypted_content"], reasoningSummary: "auto" };

function toolsOf(execute) {
  const { name, description, parameters } = TOOL;
  const own = {
    description,
    inputSchema: jsonSchema(parameters),
    ...(execute === undefined ? {} : { execute }),
  };
  return { [name]: tool(own) };
}

async function respond(model, messages, seen, { execute, steps = 1 } = {}) {
  const ciphertexts = [];
  const result = streamText({
    model,
    messages,
    maxRetries: 0,
    tools: toolsOf(execute),
    stopWhen: isStepCount(steps),
    providerOptions: { openai: OPENAI },
  });
  for await (const part of result.stream) {
    switch (/** @type {string} */ (part.type)) {
      case "text-delta":
        seen.text += part.text.length;
        seen.onText?.(part.text);
        break;
      case "reasoning-delta":
        seen.reasoning += part.text.length;
        break;
      case "reasoning-end": {
        const text = part.providerMetadata?.openai?.reasoningEncryptedContent;
        // Each summary part has its own end event; the ciphertext belongs to the item.
        if (typeof text === "string" && text !== ciphertexts.at(-1)) ciphertexts.push(text);
        break;
      }
      case "tool-input-delta":
        seen.arguments += part.delta.length;
        break;
      case "tool-call":
        seen.calls += 1;
        break;
      case "error":
        throw part.error;
    }
  }
  seen.ciphertexts = () => ciphertexts;
}

function modelAt(baseURL, more = {}) {
  return createOpenAI({ baseURL, apiKey: API_KEY, ...more }).responses(MODEL);
}

export async function createClient() {
  const models = new Map();
  const at = (url) => {
    let model = models.get(url);
    if (model === undefined) models.set(url, (model = modelAt(url)));
    return model;
  };
  const ask = (url, seen) => respond(at(url), [{ role: "user", content: "Begin." }], seen);
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
      const model = fetch === undefined ? at(url) : modelAt(url, { fetch });
      await respond(model, [{ role: "user", content: "Begin." }], seen, { execute, steps: count + 1 });
    },
    async builder(items, more) {
      const { fetch, sent } = captureFetch();
      const model = modelAt(NOWHERE, { fetch });
      const next = { role: "user", content: "Go on." };
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

/** Wire items as the messages that the SDK itself would store. */
function messagesOf(items) {
  return items.flatMap((item) => {
    switch (item.type) {
      case "message":
        return [{ role: "user", content: item.content[0].text }];
      case "reasoning": {
        const openai = { itemId: item.id, reasoningEncryptedContent: item.encrypted_content };
        const part = { type: "reasoning", text: item.summary[0].text, providerOptions: { openai } };
        return [{ role: "assistant", content: [part] }];
      }
      case "function_call": {
        const part = {
          type: "tool-call",
          toolCallId: item.call_id,
          toolName: item.name,
          input: JSON.parse(item.arguments),
          providerOptions: { openai: { itemId: item.id } },
        };
        return [{ role: "assistant", content: [part] }];
      }
      default: {
        const output = { type: "text", value: item.output };
        const part = { type: "tool-result", toolCallId: item.call_id, toolName: TOOL.name, output };
        return [{ role: "tool", content: [part] }];
      }
    }
  });
}
