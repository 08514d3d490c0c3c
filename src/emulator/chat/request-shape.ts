/**
 * The top level of a chat request: parameters, their types, and what a vendor or a model does not take. Messages are
 * read here and judged elsewhere.
 *
 * @module
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
} from "../../base/support/index.ts";
import type { ModelTraits } from "../model-traits.ts";
import { invalidType, invalidValue, missingParameter } from "../responses/judge/refusals.ts";
import type { Switches } from "../switches.ts";
import { isOfKind, type ValueKind } from "../value-kind.ts";
import { type ChatMessage, readMessages } from "./messages.ts";
import {
  bodyOf,
  type ChatRefusal,
  chatRefusal,
  invalidParameter,
  unknownModel,
  unknownParameter,
  unsupportedEffort,
  unsupportedMaxTokens,
  unsupportedTemperature,
} from "./refusals.ts";
import { type ChatTraits, chatTraitsOf, type Vendor } from "./vendors.ts";

export interface ChatRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly traits: ModelTraits;
  readonly chat: ChatTraits;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly JsonObject[];
  /** The text of `tools` as sent: they stand before everything else. */
  readonly head: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The model reasons in this request, and says so where it says so at all. */
  readonly thinking: boolean;
  readonly limit: number | undefined;
  /** The turns in which a tool was called. */
  readonly toolTurns: ReadonlySet<number>;
}

type Kind = Exclude<ValueKind, "any">;

const kinds: Readonly<Record<string, Kind>> = {
  frequency_penalty: "number",
  logprobs: "boolean",
  max_completion_tokens: "integer",
  max_tokens: "integer",
  messages: "array",
  metadata: "object",
  model: "string",
  n: "integer",
  parallel_tool_calls: "boolean",
  presence_penalty: "number",
  prompt_cache_key: "string",
  reasoning_effort: "string",
  response_format: "object",
  seed: "integer",
  store: "boolean",
  stream: "boolean",
  stream_options: "object",
  temperature: "number",
  thinking: "object",
  tools: "array",
  top_logprobs: "integer",
  top_p: "number",
  user: "string",
};

const expected: Readonly<Record<Kind, string>> = {
  string: "a string",
  boolean: "a boolean",
  integer: "an integer",
  number: "a decimal",
  array: "an array",
  object: "an object",
};

export function parseChatRequest(options: {
  readonly body: unknown;
  readonly text: string;
  readonly switches: Switches;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ChatRequest | ChatRefusal {
  const { body, text, switches } = options;
  if (!isObject(body)) return inWordsOf("openai", invalidType("body", "an object", body));
  const model = body["model"];
  if (model === undefined || model === null)
    return inWordsOf("openai", missingParameter("X-missing", "model"));
  if (typeof model !== "string") return inWordsOf("openai", invalidType("model", "a string", model));
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const chat = chatTraitsOf(model);
  const wrong =
    checkKinds(body, chat.vendor) ??
    (switches.unknownFields === "refuse" ? checkNames(body, chat) : undefined) ??
    checkLimits(body, chat) ??
    checkTools(body, chat.vendor) ??
    checkFormat(body, chat.vendor) ??
    checkMessageList(body, chat.vendor);
  if (wrong !== undefined) return wrong;
  const texts = sliceArray(sliceMember(text, "messages") ?? "[]");
  const messages = readMessages(arrayOf(body["messages"]), texts);
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  return {
    body,
    model,
    traits,
    chat,
    messages,
    tools: arrayOf(body["tools"]).map(objectOf),
    head: sliceMember(text, "tools") ?? "[]",
    stream: body["stream"] === true,
    includeUsage: objectOf(body["stream_options"])["include_usage"] === true,
    thinking: traits.reasoning && !thinkingIsOff(body),
    limit: typeof limit === "number" ? limit : undefined,
    toolTurns: new Set(messages.filter(({ calls }) => calls.length > 0).map(({ turn }) => turn)),
  };
}

/** Each vendor has its own switch for it, and nobody refuses another's. */
function thinkingIsOff(body: JsonObject): boolean {
  const router = objectOf(body["reasoning"]);
  return (
    objectOf(body["thinking"])["type"] === "disabled" ||
    body["reasoning_effort"] === "none" ||
    router["effort"] === "none" ||
    router["enabled"] === false
  );
}

export function inWordsOf(vendor: Vendor, refusal: Omit<ChatRefusal, "body">): ChatRefusal {
  return { ...refusal, body: bodyOf(vendor, refusal) };
}

function checkKinds(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  for (const [name, kind] of Object.entries(kinds)) {
    const value = body[name];
    if (value === undefined || value === null || isOfKind(value, kind)) continue;
    return inWordsOf(vendor, invalidType(name, expected[kind], value));
  }
  return undefined;
}

function checkNames(body: JsonObject, chat: ChatTraits): ChatRefusal | undefined {
  for (const [name, value] of Object.entries(body)) {
    if (name === "reasoning_effort" && chat.efforts === undefined && value !== null)
      return unknownParameter(chat, name, value);
    if (chat.parameters === null || chat.parameters.includes(name)) continue;
    return unknownParameter(chat, name, value);
  }
  return undefined;
}

function checkLimits(body: JsonObject, chat: ChatTraits): ChatRefusal | undefined {
  const { vendor } = chat;
  if (typeof body["max_tokens"] === "number" && !chat.maxTokens.includes("max_tokens"))
    return unsupportedMaxTokens(vendor);
  const { temperature, reasoning_effort: effort, n } = body;
  if (chat.fixedTemperature && typeof temperature === "number" && temperature !== 1)
    return unsupportedTemperature(vendor, temperature);
  if (typeof effort === "string" && chat.efforts !== undefined && !chat.efforts.includes(effort))
    return unsupportedEffort(vendor, effort, chat.efforts);
  if (typeof n === "number" && n !== 1) {
    return invalidParameter(vendor, {
      rule: "X-n",
      message: "The emulator answers with one choice: 'n' must be 1.",
      param: "n",
      code: "unsupported_value",
    });
  }
  if (vendor === "openai" && isObject(body["stream_options"]) && body["stream"] !== true) {
    return invalidParameter(vendor, {
      rule: "X-stream-options",
      message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      param: "stream_options",
    });
  }
  return undefined;
}

function checkTools(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  const { tools, tool_choice: choice } = body;
  if (Array.isArray(tools) && tools.length === 0 && vendor === "openai") return emptyArray(vendor, "tools");
  const list = arrayOf(tools);
  for (const [index, value] of list.entries()) {
    const tool = objectOf(value);
    const { type } = tool;
    if (type !== "function" && type !== "custom") {
      const param = `tools[${index}].type`;
      return inWordsOf(vendor, invalidValue("X-tool", param, String(type), ["function", "custom"]));
    }
    if (stringOf(objectOf(tool[type])["name"]) === undefined)
      return inWordsOf(vendor, missingParameter("X-tool", `tools[${index}].${type}.name`));
  }
  if (vendor === "openai" && choice !== undefined && choice !== null && list.length === 0) {
    return invalidParameter(vendor, {
      rule: "X-tool-choice",
      message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      param: "tool_choice",
    });
  }
  return undefined;
}

function checkFormat(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  const format = body["response_format"];
  if (!isObject(format)) return undefined;
  const known = ["json_object", "json_schema", "text"];
  const type = stringOf(format["type"]) ?? "";
  if (!known.includes(type))
    return inWordsOf(vendor, invalidValue("X-format", "response_format.type", type, known));
  if (type !== "json_schema") return undefined;
  const { name, schema } = objectOf(format["json_schema"]);
  const missing = typeof name !== "string" ? "name" : isObject(schema) ? undefined : "schema";
  if (missing === undefined) return undefined;
  return inWordsOf(vendor, missingParameter("X-format", `response_format.json_schema.${missing}`));
}

function checkMessageList(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  const { messages } = body;
  if (!Array.isArray(messages)) return inWordsOf(vendor, missingParameter("X-missing", "messages"));
  if (messages.length === 0) return emptyArray(vendor, "messages");
  const wrong = messages.findIndex((message) => !isObject(message));
  if (wrong === -1) return undefined;
  return inWordsOf(vendor, invalidType(`messages[${wrong}]`, "an object", messages[wrong]));
}

export function emptyArray(vendor: Vendor, param: string): ChatRefusal {
  return chatRefusal(vendor, {
    rule: "X-empty",
    message: `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    param,
    code: "empty_array",
  });
}
