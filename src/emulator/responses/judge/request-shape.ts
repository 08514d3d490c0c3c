/**
 * The top level of a request: known parameters, their types and the limits the live API enforces. What passes here is
 * a `ParsedRequest`; input items are still unjudged. Field list: failures.md §2.1.
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
} from "../../../base/support/index.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { refuse, type Refusal } from "../../refusal.ts";
import { isOfKind, type ValueKind } from "../../value-kind.ts";
import {
  arrayTooLong,
  ciphertextUnsupported,
  emptyString,
  integerTooSmall,
  invalidType,
  invalidValue,
  missingParameter,
  unknownModel,
  unknownParameter,
  unsupportedParameter,
} from "./refusals.ts";

export interface InputItem {
  readonly item: JsonObject;
  /** Its exact text in the body: prefix stability is about bytes. */
  readonly text: string;
}

export interface ParsedRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly traits: ModelTraits;
  readonly input: readonly InputItem[];
  readonly tools: readonly JsonObject[];
  /** Texts of `instructions` and `tools` as sent, for the prefix. */
  readonly head: string;
  readonly store: boolean;
  readonly stream: boolean;
  readonly include: readonly string[];
}

const parameters: Readonly<Record<string, ValueKind>> = {
  background: "boolean",
  context_management: "array",
  conversation: "any",
  include: "array",
  input: "any",
  instructions: "string",
  max_output_tokens: "integer",
  max_tool_calls: "integer",
  metadata: "object",
  model: "string",
  moderation: "object",
  parallel_tool_calls: "boolean",
  previous_response_id: "string",
  prompt: "object",
  prompt_cache_key: "string",
  prompt_cache_options: "object",
  prompt_cache_retention: "string",
  reasoning: "object",
  safety_identifier: "string",
  service_tier: "string",
  store: "boolean",
  stream: "boolean",
  stream_options: "object",
  temperature: "number",
  text: "object",
  tool_choice: "any",
  tools: "array",
  top_logprobs: "integer",
  top_p: "number",
  truncation: "string",
  user: "string",
};

const expectedWords: Readonly<Record<ValueKind, string>> = {
  string: "a string",
  boolean: "a boolean",
  integer: "an integer",
  number: "a decimal",
  array: "an array",
  object: "an object",
  any: "a value",
};

const includeValues = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
] as const;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export function parseRequest(options: {
  readonly body: unknown;
  readonly text: string;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ParsedRequest | Refusal {
  const { body, text } = options;
  if (!isObject(body)) return invalidType("body", "an object", body);
  const wrong = checkParameters(body);
  if (wrong !== undefined) return wrong;
  if (body["model"] === undefined || body["model"] === null) return missingParameter("X-missing", "model");
  const model = body["model"] as string;
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const input = parseInput(body, text);
  if ("rule" in input) return input;
  const limited =
    checkTools(body["tools"]) ??
    checkReasoning(body["reasoning"], traits) ??
    checkInclude(body["include"], traits) ??
    checkSampling(body, traits) ??
    checkFormat(body["text"]);
  if (limited !== undefined) return limited;
  return {
    body,
    model,
    traits,
    input: input.items,
    tools: arrayOf(body["tools"]).map(objectOf),
    head: `${sliceMember(text, "instructions") ?? "null"}\n${sliceMember(text, "tools") ?? "[]"}`,
    store: body["store"] !== false,
    stream: body["stream"] === true,
    include: arrayOf(body["include"]) as readonly string[],
  };
}

function checkParameters(body: JsonObject): Refusal | undefined {
  for (const [name, value] of Object.entries(body)) {
    const kind = parameters[name];
    if (!Object.hasOwn(parameters, name) || kind === undefined) return unknownParameter("X-unknown", name);
    if (value !== null && !isOfKind(value, kind)) return invalidType(name, expectedWords[kind], value);
  }
  const tokens = body["max_output_tokens"];
  if (typeof tokens === "number" && tokens < 16) return integerTooSmall("max_output_tokens", tokens, 16);
  return undefined;
}

function parseInput(body: JsonObject, text: string): Refusal | { readonly items: readonly InputItem[] } {
  const input = body["input"];
  if (input === undefined || input === null) {
    // An empty list is a request too (stored mode continues with it); nothing at all is not.
    if (typeof body["previous_response_id"] === "string" || isObject(body["prompt"])) return { items: [] };
    return refuse({
      rule: "X-missing",
      message: `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`,
      param: "input",
      code: "missing_required_parameter",
    });
  }
  const slice = sliceMember(text, "input") ?? "";
  if (typeof input === "string") {
    return { items: [{ item: { type: "message", role: "user", content: input }, text: slice }] };
  }
  if (!Array.isArray(input)) return invalidType("input", "one of an array of objects or string", input);
  const texts = sliceArray(slice);
  const items: InputItem[] = [];
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) return invalidType(`input[${index}]`, "an input item", item);
    items.push({ item, text: texts[index] ?? "" });
  }
  return { items };
}

function checkTools(tools: unknown): Refusal | undefined {
  if (!Array.isArray(tools)) return undefined;
  if (tools.length > 128) return arrayTooLong("S12", "tools", tools.length, 128);
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    if (!isObject(tool)) return invalidType(at, "an object", tool);
    if (tool["type"] === undefined) return missingParameter("X-missing", `${at}.type`);
    if (typeof tool["type"] !== "string") return invalidType(`${at}.type`, "a string", tool["type"]);
    if (tool["type"] !== "function" && tool["type"] !== "custom") continue;
    // S13: the chat-completions shape {type, function: {name, …}} has no name where this API looks for it.
    if (tool["name"] === undefined) return missingParameter("S13", `${at}.name`);
    if (typeof tool["name"] !== "string") return invalidType(`${at}.name`, "a string", tool["name"]);
    if (tool["name"] === "") return emptyString("X-empty", `${at}.name`);
    if (!/^[\w-]+$/.test(tool["name"])) {
      return refuse({
        rule: "X-pattern",
        message: `Invalid '${at}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        param: `${at}.name`,
        code: "invalid_value",
      });
    }
    const schema = tool["parameters"];
    if (schema !== undefined && schema !== null && !isObject(schema)) {
      return invalidType(`${at}.parameters`, "an object", schema);
    }
  }
  return undefined;
}

function checkReasoning(reasoning: unknown, traits: ModelTraits): Refusal | undefined {
  if (!isObject(reasoning)) return undefined;
  const { effort, summary } = reasoning;
  if (!traits.reasoning && effort !== undefined && effort !== null && effort !== "none") {
    return unsupportedParameter("reasoning.effort");
  }
  if (effort !== undefined && effort !== null) {
    if (typeof effort !== "string") return invalidType("reasoning.effort", "a string", effort);
    if (!efforts.includes(effort)) return invalidValue("X-value", "reasoning.effort", effort, efforts);
  }
  if (summary !== undefined && summary !== null) {
    if (typeof summary !== "string") return invalidType("reasoning.summary", "a string", summary);
    const allowed = ["concise", "detailed", "auto"];
    if (!allowed.includes(summary)) return invalidValue("S07", "reasoning.summary", summary, allowed);
  }
  const known = ["effort", "summary", "context", "mode", "generate_summary"];
  const unknown = Object.keys(reasoning).find((name) => !known.includes(name));
  if (unknown !== undefined) return unknownParameter("X-unknown", `reasoning.${unknown}`);
  return reasoning["generate_summary"] === undefined || reasoning["generate_summary"] === null
    ? undefined
    : { ...unsupportedParameter("reasoning.generate_summary"), code: "unsupported_parameter" };
}

function checkInclude(include: unknown, traits: ModelTraits): Refusal | undefined {
  for (const [index, value] of arrayOf(include).entries()) {
    if (typeof value !== "string") return invalidType(`include[${index}]`, "a string", value);
    if (!(includeValues as readonly string[]).includes(value)) {
      return invalidValue("X-value", `include[${index}]`, value, includeValues);
    }
    if (value === "reasoning.encrypted_content" && !traits.encryptedContent) return ciphertextUnsupported();
  }
  return undefined;
}

function checkSampling(body: JsonObject, traits: ModelTraits): Refusal | undefined {
  if (traits.sampling) return undefined;
  const given = ["temperature", "top_p"].find((name) => body[name] !== undefined && body[name] !== null);
  return given === undefined ? undefined : unsupportedParameter(given);
}

function checkFormat(text: unknown): Refusal | undefined {
  if (!isObject(text) || !isObject(text["format"])) return undefined;
  const format = text["format"];
  const type = stringOf(format["type"]);
  if (type === undefined) return missingParameter("X-missing", "text.format.type");
  const allowed = ["json_object", "json_schema", "text"];
  if (!allowed.includes(type)) return invalidValue("X-value", "text.format.type", type, allowed);
  if (type !== "json_schema") return undefined;
  if (typeof format["name"] !== "string") return missingParameter("X-missing", "text.format.name");
  return isObject(format["schema"]) ? undefined : missingParameter("X-missing", "text.format.schema");
}
