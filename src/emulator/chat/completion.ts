/** A non-streaming answer: one `chat.completion`, in the vendor's form. */

import { assertNever, type JsonObject } from "../../base/support/index.ts";
import type { Ending } from "./ending.ts";
import type { IssuedCall, IssuedMessage } from "./issue.ts";
import type { ChatRequest } from "./request-shape.ts";
import { around, choiceOf, type Frame } from "./vendor-form.ts";
import type { ChatToolCall } from "./vocabulary.ts";

export function completionOf(options: {
  readonly frame: Frame;
  readonly request: ChatRequest;
  readonly message: IssuedMessage;
  readonly ending: Ending;
  readonly usage: JsonObject;
}): JsonObject {
  const { frame, ending, usage } = options;
  const choice = choiceOf(frame.vendor, { message: messageObject(options) }, ending.finish);
  const object = around(frame, "chat.completion", [choice]);
  return frame.vendor === "groq"
    ? { ...object, usage, x_groq: { id: `req_${frame.id.slice(-26)}` } }
    : { ...object, usage };
}

function messageObject(options: {
  readonly frame: Frame;
  readonly request: ChatRequest;
  readonly message: IssuedMessage;
}): JsonObject {
  const { message, request } = options;
  const { vendor } = options.frame;
  const { calls, refusal, thoughts } = message;
  const said = message.content === "" && vendor !== "openai" ? (refusal ?? "") : message.content;
  const content = said === "" && (calls.length > 0 || refusal !== undefined) ? null : said;
  const base = { role: "assistant", content };
  // DeepSeek numbers calls here too; the field comes back and is ignored.
  const listed = calls.map((call, index) => ({
    ...(vendor === "deepseek" ? { index } : {}),
    ...callObject(call),
  }));
  const called = calls.length === 0 ? {} : { tool_calls: listed };
  const [thought] = thoughts;
  if (thought === undefined || request.chat.shows === null) {
    return vendor === "openai"
      ? { ...base, refusal: refusal ?? null, annotations: [], ...called }
      : { ...base, ...called };
  }
  switch (vendor) {
    case "mistral": {
      const signed = message.signature === undefined ? {} : { signature: message.signature, closed: true };
      const thinking = { type: "thinking", thinking: [{ type: "text", text: thought }], ...signed };
      const text = said === "" ? [] : [{ type: "text", text: said }];
      return { role: "assistant", content: [thinking, ...text], ...called };
    }
    case "groq":
      return { ...base, reasoning: thought, ...called };
    case "compatible": {
      const { shows } = request.chat;
      const value = shows === "reasoning_details" ? [textDetail(thought)] : thought;
      return { ...base, [shows]: value, ...called };
    }
    case "openrouter":
      return {
        ...base,
        refusal: null,
        reasoning: thoughts.join("\n\n"),
        reasoning_details: message.details.flat(),
        ...called,
      };
    case "openai":
    case "deepseek":
    case "kimi":
      return { ...base, reasoning_content: thought, ...called };
    default:
      return assertNever(vendor, "vendor");
  }
}

/** MiniMax's entry: readable, with the same id in every message. */
export function textDetail(text: string): JsonObject {
  return { type: "reasoning.text", id: "reasoning-text-1", format: "MiniMax-response-v1", index: 0, text };
}

/** Any call except Mistral's, which omits the type. */
export function callObject(call: IssuedCall): JsonObject {
  if (call.custom) return { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments } };
  const made: ChatToolCall = {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  };
  return { ...made };
}
