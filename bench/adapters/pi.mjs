/**
 * pi: `stream` of pi-ai for one answer, `agentLoop` of pi-agent-core for a loop. 0.87.1 is the newest version that can be
 * installed: 1.x depends on a package that is not published.
 *
 * @module
 */
import { agentLoop } from "@earendil-works/pi-agent-core";
import { normalizeContext } from "@earendil-works/pi-ai";
import { stream, streamSimple } from "@earendil-works/pi-ai/api/openai-responses";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";
import { API_KEY, NOWHERE } from "../load/session-log.mjs";
import { captureFetch } from "./capture-fetch.mjs";

const OPTIONS = { apiKey: API_KEY, maxRetries: 0 };

function modelAt(baseUrl) {
  return {
    id: MODEL,
    name: MODEL,
    api: "openai-responses",
    provider: "openai",
    baseUrl,
    reasoning: true,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 10_000_000,
    maxTokens: 100_000,
  };
}

function count(event, seen) {
  switch (event.type) {
    case "text_delta":
      seen.text += event.delta.length;
      seen.onText?.(event.delta);
      break;
    case "thinking_delta":
      seen.reasoning += event.delta.length;
      break;
    case "toolcall_delta":
      seen.arguments += event.delta.length;
      break;
    case "toolcall_end":
      seen.calls += 1;
      break;
    case "error":
      throw new Error(event.error.errorMessage);
  }
}

function ciphertextsOf(messages) {
  return messages.flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((part) =>
      part.type === "thinking" ? [JSON.parse(part.thinkingSignature).encrypted_content] : [],
    ),
  );
}

async function respond(model, messages, seen, more = {}) {
  const context = normalizeContext({ messages, tools: [TOOL] });
  const options = { ...OPTIONS, reasoningEffort: "high", reasoningSummary: "auto", ...more };
  const answer = stream(model, context, options);
  for await (const event of answer) count(event, seen);
  const message = await answer.result();
  seen.ciphertexts = () => ciphertextsOf([message]);
}

export async function createClient() {
  const begin = { role: "user", content: "Begin.", timestamp: 0 };
  const ask = (url, seen) => respond(modelAt(url), [begin], seen);
  return {
    ask,
    prepare: async (url) => (seen) => ask(url, seen),
    async loop(url, seen, steps, mark, fetch) {
      const outputs = Array.from({ length: steps }, (_, step) => toolOutput(step));
      let step = 0;
      const execute = async () => {
        mark();
        return { content: [{ type: "text", text: outputs[step++] }], details: {} };
      };
      const tools = [{ ...TOOL, label: TOOL.name, execute }];
      const config = {
        ...OPTIONS,
        model: modelAt(url),
        reasoning: "high",
        convertToLlm: (messages) => messages,
        ...(fetch === undefined ? {} : { fetch }),
      };
      const events = agentLoop([begin], { messages: [], tools }, config, undefined, streamSimple);
      for await (const event of events) {
        if (event.type === "message_update") count(event.assistantMessageEvent, seen);
      }
      const messages = await events.result();
      const failed = messages.find(({ errorMessage }) => errorMessage !== undefined);
      if (failed !== undefined) throw new Error(failed.errorMessage);
      seen.ciphertexts = () => ciphertextsOf(messages);
    },
    async builder(items, more) {
      const { fetch, sent } = captureFetch();
      const model = modelAt(NOWHERE);
      const next = { role: "user", content: "Go on.", timestamp: 0 };
      const history = messagesOf(items);
      const longer = [...history, next, ...messagesOf(more), next];
      const build = async (turn, stop) => {
        sent.stop = stop;
        await respond(model, turn === 0 ? [...history, next] : longer, {}, { fetch });
        return sent.body;
      };
      return { build };
    },
  };
}

/** Wire items in pi's own form: a step is one message, and the signature contains the item. */
function messagesOf(items) {
  const messages = [];
  let content = [];
  for (const item of items) {
    switch (item.type) {
      case "message":
        messages.push({ role: "user", content: item.content[0].text, timestamp: 0 });
        break;
      case "reasoning":
        content = [
          { type: "thinking", thinking: item.summary[0].text, thinkingSignature: JSON.stringify(item) },
        ];
        break;
      case "function_call":
        content.push({
          type: "toolCall",
          id: `${item.call_id}|${item.id}`,
          name: item.name,
          arguments: JSON.parse(item.arguments),
        });
        messages.push({
          role: "assistant",
          content,
          api: "openai-responses",
          provider: "openai",
          model: MODEL,
          usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: 0 } },
          stopReason: "toolUse",
          timestamp: 0,
        });
        break;
      default: {
        const { id } = content.at(-1);
        messages.push({
          role: "toolResult",
          toolCallId: id,
          toolName: TOOL.name,
          content: [{ type: "text", text: item.output }],
          isError: false,
          timestamp: 0,
        });
      }
    }
  }
  return messages;
}
