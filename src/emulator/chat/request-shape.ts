/**
 * The top level of a chat request: parameters, their types, and what a vendor or model does not accept. Messages are
 * read here and judged elsewhere.
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
} from "../../base/support/index.ts";
import type { ModelTraits } from "../model-traits.ts";
import { invalidType } from "../responses/judge/refusals.ts";
import { by, ensure, orNull, readAs, type Row, rows } from "../shape/shape-rows.ts";
import { kindTable } from "../shape/value-kind.ts";
import type { Switches } from "../switches.ts";
import { type ChatMessage, readMessages } from "./messages.ts";
import {
  type ChatRefusal,
  choiceWithoutTools,
  invalidParameter,
  inWordsOf,
  notEmptyList,
  thinkingNotEnabled,
  unknownModel,
  unknownParameter,
  unsupportedEffort,
  unsupportedMaxTokens,
  unsupportedTemperature,
} from "./refusals.ts";
import { chatRows, textOrNothing } from "./shape-words.ts";
import { type ChatTraits, chatTraitsOf, type Vendor } from "./vendors.ts";

export interface ChatRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly traits: ModelTraits;
  readonly chat: ChatTraits;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly JsonObject[];
  /** The text of `tools` as sent: they precede everything else. */
  readonly head: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Whether the model reasons in this request, and shows it if it shows any. */
  readonly thinking: boolean;
  readonly limit: number | undefined;
  /** The turns in which a tool was called. */
  readonly toolTurns: ReadonlySet<number>;
}

const kinds = kindTable({
  number: "frequency_penalty presence_penalty temperature top_p",
  boolean: "logprobs parallel_tool_calls store stream",
  integer: "max_completion_tokens max_tokens n seed top_logprobs",
  array: "messages tools",
  object: "metadata response_format stream_options thinking",
  string: "model prompt_cache_key reasoning_effort user",
});

export function parseChatRequest(options: {
  readonly body: unknown;
  readonly text: string;
  readonly switches: Switches;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ChatRequest | ChatRefusal {
  const { body, text, switches } = options;
  if (!isObject(body)) return inWordsOf("openai", invalidType("body", "an object", body));
  const { field, is, required } = chatRows("openai");
  const named = field(
    "model",
    readAs((value) => value ?? undefined, required(), is("string")),
  );
  const unnamed = named(body, "");
  if (unnamed !== undefined) return unnamed;
  const model = String(body["model"]);
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const chat = chatTraitsOf(model);
  const wrong =
    checkKinds(body, chat.vendor) ??
    (switches.unknownFields === "refuse" ? checkNames(body, chat) : undefined) ??
    checkThinking(body, chat, switches) ??
    checkLimits(body, chat) ??
    checkParts(body, chat.vendor);
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
    thinking: traits.reasoning && (chat.thinking !== "switch" || !thinkingIsOff(body)),
    limit: typeof limit === "number" ? limit : undefined,
    toolTurns: new Set(messages.filter(({ calls }) => calls.length > 0).map(({ turn }) => turn)),
  };
}

/** Each vendor has its own switch for this, and none refuses another's. */
function thinkingIsOff(body: JsonObject): boolean {
  const router = objectOf(body["reasoning"]);
  return (
    objectOf(body["thinking"])["type"] === "disabled" ||
    body["reasoning_effort"] === "none" ||
    router["effort"] === "none" ||
    router["enabled"] === false ||
    body["enable_thinking"] === false ||
    objectOf(body["chat_template_kwargs"])["enable_thinking"] === false
  );
}

function checkKinds(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  const { field, is } = chatRows(vendor);
  return rows(...[...kinds].map(([name, kind]) => field(name, orNull(is(kind)))))(body, "");
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

/** Kimi by generation: K3 has no such parameter, and K2.7 cannot switch it off. */
function checkThinking(body: JsonObject, chat: ChatTraits, switches: Switches): ChatRefusal | undefined {
  const { thinking } = body;
  if (thinking === undefined || thinking === null) return undefined;
  if (chat.thinking === "refused" && switches.kimiThinking === "refuse")
    return unknownParameter(chat, "thinking", thinking);
  const type = String(objectOf(thinking)["type"]);
  return chat.thinking === "enabled" && type !== "enabled"
    ? thinkingNotEnabled(chat.vendor, type)
    : undefined;
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

/** Tools, format and messages, in this order. */
function checkParts(body: JsonObject, vendor: Vendor): ChatRefusal | undefined {
  const { field } = chatRows(vendor);
  const strict = vendor === "openai";
  const homeless = strict && arrayOf(body["tools"]).length === 0;
  return rows(
    field("tools", strict ? notEmptyList(vendor) : rows(), toolRows(vendor)),
    field(
      "tool_choice",
      orNull(
        ensure(
          () => !homeless,
          () => choiceWithoutTools(vendor),
        ),
      ),
    ),
    field("response_format", formatRows(vendor)),
    field("messages", messageRows(vendor)),
  )(body, "");
}

function toolRows(vendor: Vendor): Row<ChatRefusal> {
  const { each, field, mustBe, mustBeOneOf } = chatRows(vendor, "X-tool");
  const made = readAs(objectOf, field("name", mustBe("string")));
  return each(
    readAs(
      objectOf,
      field("type", mustBeOneOf(["function", "custom"])),
      by(({ type }) => field(String(type), made)),
    ),
  );
}

function formatRows(vendor: Vendor): Row<ChatRefusal> {
  const { field, mustBe, mustBeOneOf } = chatRows(vendor, "X-format");
  const schema = rows(field("name", mustBe("string")), field("schema", mustBe("object")));
  return rows(
    field("type", readAs(textOrNothing, mustBeOneOf(["json_object", "json_schema", "text"]))),
    by(({ type }) => (type === "json_schema" ? field("json_schema", readAs(objectOf, schema)) : undefined)),
  );
}

function messageRows(vendor: Vendor): Row<ChatRefusal> {
  const { each, is, mustBe } = chatRows(vendor);
  return rows(mustBe("array"), notEmptyList(vendor), each(is("object")));
}
