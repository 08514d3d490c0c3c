/** What a request says about itself besides its history. */

import type { Dialect } from "../../base/events/index.ts";
import { type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { Thinking } from "../ledger/index.ts";
import { canonicalJson, type Mark } from "../marks/index.ts";

export interface RequestFacts {
  readonly model: string;
  readonly stream: boolean;
  readonly thinking: Thinking;
  /** The provider keeps the answer: `store` is not false. */
  readonly stored: boolean;
  /** The response that the request goes on from, on the server. */
  readonly previous?: string | undefined;
  /** Marks of the system prompt and of what the client calls its conversation. */
  readonly hints: readonly string[];
  /** More than one answer was asked for. */
  readonly several: boolean;
}

export function requestFacts(dialect: Dialect, head: JsonObject, mark: Mark): RequestFacts {
  const system = head["instructions"] ?? head["system"];
  const named = [
    stringOf(head["prompt_cache_key"]),
    stringOf(head["session_id"]),
    stringOf(objectOf(head["metadata"])["user_id"]),
    stringOf(objectOf(head["metadata"])["session_id"]),
  ].filter((name) => name !== undefined && name !== "");
  return {
    model: stringOf(head["model"]) ?? "",
    stream: head["stream"] === true,
    thinking: thinkingOf(dialect, head),
    stored: dialect === "openai-responses" && head["store"] !== false,
    previous: stringOf(head["previous_response_id"]) || stringOf(conversationOf(head)) || undefined,
    hints: [
      ...(system === undefined || system === null ? [] : [mark(`system\n${canonicalJson(system)}`)]),
      ...named.map((name) => mark(`conversation\n${name ?? ""}`)),
    ],
    several: typeof head["n"] === "number" && head["n"] > 1,
  };
}

function conversationOf({ conversation }: JsonObject): unknown {
  return typeof conversation === "string" ? conversation : objectOf(conversation)["id"];
}

/** How each dialect and vendor switches thinking off. */
function thinkingOf(dialect: Dialect, head: JsonObject): Thinking {
  const type = stringOf(objectOf(head["thinking"])["type"]);
  if (dialect === "anthropic-messages")
    return type === undefined ? "unset" : type === "disabled" ? "off" : "on";
  const reasoning = objectOf(head["reasoning"]);
  const isOff =
    type === "disabled" ||
    reasoning["effort"] === "none" ||
    reasoning["enabled"] === false ||
    head["reasoning_effort"] === "none" ||
    head["enable_thinking"] === false ||
    objectOf(head["chat_template_kwargs"])["enable_thinking"] === false;
  return isOff ? "off" : "on";
}
