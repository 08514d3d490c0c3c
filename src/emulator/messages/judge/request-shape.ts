/**
 * The top level of a Messages request: known parameters, their types and limits. What passes here is a `ParsedMessages`;
 * messages are still unjudged. Field list: @anthropic-ai/sdk 1.8.0, MessageCreateParamsBase (also of the beta).
 *
 * @module
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceMember,
  stringOf,
} from "../../../base/support/index.ts";
import type { ModelTraits } from "../../model-traits.ts";
import type { Refusal } from "../../refusal.ts";
import { isOfKind, type ValueKind } from "../../value-kind.ts";
import {
  budgetTooLarge,
  emptyText,
  extraInput,
  fieldRequired,
  forcedTool,
  patternMismatch,
  temperatureWhileThinking,
  tooManyBreakpoints,
  toolNamesRepeat,
  tooSmall,
  unexpectedValue,
  unknownModel,
  wrongType,
} from "../refusals.ts";
import { withoutCacheControl } from "./context.ts";
import { parseThinking, type Thinking } from "./thinking-config.ts";

export interface ParsedMessages {
  readonly body: JsonObject;
  readonly model: string;
  readonly traits: ModelTraits;
  readonly messages: readonly JsonObject[];
  readonly messagesText: string;
  readonly tools: readonly JsonObject[];
  /** Texts as sent, without `cache_control`. */
  readonly system: string;
  readonly toolsText: string;
  readonly stream: boolean;
  readonly thinking: Thinking;
  readonly betas: readonly string[];
  /** Nothing is cached unless somebody asked for it. */
  readonly caches: boolean;
}

const counted: Readonly<Record<string, ValueKind>> = {
  cache_control: "object",
  messages: "array",
  model: "string",
  output_config: "object",
  system: "any",
  thinking: "object",
  tool_choice: "object",
  tools: "array",
};

const created: Readonly<Record<string, ValueKind>> = {
  ...counted,
  container: "any",
  diagnostics: "object",
  inference_geo: "string",
  max_tokens: "integer",
  metadata: "object",
  service_tier: "string",
  speed: "string",
  stop_sequences: "array",
  stream: "boolean",
  temperature: "number",
  top_k: "integer",
  top_p: "number",
  user_profile_id: "string",
  workspace_id: "string",
};

/** Known only with an `anthropic-beta` header. */
const inBeta: Readonly<Record<string, ValueKind>> = {
  compaction: "object",
  context_management: "object",
  fallbacks: "any",
  mcp_servers: "array",
  output_format: "object",
  thread: "object",
};

const kindWords: Readonly<Record<ValueKind, string>> = {
  string: "a valid string",
  boolean: "a valid boolean",
  integer: "a valid integer",
  number: "a valid number",
  array: "a valid list",
  object: "a valid dictionary",
  any: "a valid value",
};

const efforts = ["low", "medium", "high", "xhigh", "max"];

export function parseMessages(options: {
  readonly body: unknown;
  readonly text: string;
  readonly betas: readonly string[];
  /** `count_tokens` takes only what is counted. */
  readonly counting: boolean;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ParsedMessages | Refusal {
  const { body, text, betas } = options;
  if (!isObject(body)) return wrongType("body", "a valid dictionary");
  const wrong = checkParameters(body, options);
  if (wrong !== undefined) return wrong;
  const model = String(body["model"]);
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const thinking = parseThinking(body, { model, traits, betas });
  if ("rule" in thinking) return thinking;
  const limited =
    checkLimits(body, thinking) ??
    checkSystem(body["system"]) ??
    checkTools(body["tools"]) ??
    checkToolChoice(body, thinking) ??
    checkEffort(body["output_config"]) ??
    checkBreakpoints(body);
  if (limited !== undefined) return limited;
  return {
    body,
    model,
    traits,
    messages: arrayOf(body["messages"]).map(objectOf),
    messagesText: sliceMember(text, "messages") ?? "[]",
    tools: arrayOf(body["tools"]).map(objectOf),
    system: withoutCacheControl(sliceMember(text, "system") ?? "null"),
    toolsText: withoutCacheControl(sliceMember(text, "tools") ?? "[]"),
    stream: body["stream"] === true,
    thinking,
    betas,
    caches: text.includes('"cache_control"'),
  };
}

function checkParameters(
  body: JsonObject,
  options: { readonly betas: readonly string[]; readonly counting: boolean },
): Refusal | undefined {
  const known = {
    ...(options.counting ? counted : created),
    ...(options.betas.length > 0 ? inBeta : {}),
  };
  const required = ["model", "messages", ...(options.counting ? [] : ["max_tokens"])];
  for (const name of required) if (body[name] === undefined) return fieldRequired(name);
  for (const [name, value] of Object.entries(body)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) return extraInput(name);
    if (value === null && !required.includes(name)) continue;
    if (!isOfKind(value, kind)) return wrongType(name, kindWords[kind]);
  }
  return undefined;
}

function checkLimits(body: JsonObject, thinking: Thinking): Refusal | undefined {
  const { max_tokens: limit, temperature } = body;
  if (typeof limit === "number" && limit < 1) return tooSmall("max_tokens", 1);
  if (typeof limit === "number" && thinking.budget !== undefined && thinking.budget >= limit)
    return budgetTooLarge();
  if (thinking.on && typeof temperature === "number" && temperature !== 1) return temperatureWhileThinking();
  return undefined;
}

function checkSystem(system: unknown): Refusal | undefined {
  if (system === undefined || system === null || typeof system === "string") return undefined;
  if (!Array.isArray(system)) return wrongType("system", kindWords.array);
  for (const [index, block] of system.entries()) {
    if (!isObject(block)) return wrongType(`system.${index}`, kindWords.object);
    if (typeof block["text"] !== "string") return fieldRequired(`system.${index}.text`);
    if (block["text"] === "") return emptyText("system");
  }
  return undefined;
}

const toolNamePattern = "^[a-zA-Z0-9_-]{1,128}$";

function checkTools(tools: unknown): Refusal | undefined {
  const names = new Set<string>();
  for (const [index, tool] of arrayOf(tools).entries()) {
    const path = `tools.${index}`;
    if (!isObject(tool)) return wrongType(path, kindWords.object);
    const type = stringOf(tool["type"]) ?? "custom";
    const name = tool["name"];
    if (type !== "custom") continue; // server tools have shapes of their own
    if (name === undefined) return fieldRequired(`${path}.custom.name`);
    if (typeof name !== "string" || !new RegExp(toolNamePattern).test(name))
      return patternMismatch("X-tools", `${path}.custom.name`, toolNamePattern);
    if (!isObject(tool["input_schema"])) return fieldRequired(`${path}.custom.input_schema`);
    if (names.has(name)) return toolNamesRepeat();
    names.add(name);
  }
  return undefined;
}

const choices = ["auto", "any", "tool", "none"];

function checkToolChoice(body: JsonObject, thinking: Thinking): Refusal | undefined {
  const choice = body["tool_choice"];
  if (!isObject(choice)) return undefined;
  const type = stringOf(choice["type"]) ?? "";
  if (!choices.includes(type)) return unexpectedValue("tool_choice.type", choices);
  if (type === "tool" && typeof choice["name"] !== "string") return fieldRequired("tool_choice.tool.name");
  const forces = type === "any" || type === "tool";
  return forces && thinking.mode === "enabled" ? forcedTool() : undefined;
}

function checkEffort(config: unknown): Refusal | undefined {
  const { effort } = objectOf(config);
  if (effort === undefined || effort === null) return undefined;
  return efforts.includes(stringOf(effort) ?? "")
    ? undefined
    : unexpectedValue("output_config.effort", efforts);
}

function checkBreakpoints(body: JsonObject): Refusal | undefined {
  const { tools, system, messages } = body;
  const found = breakpointsIn([tools, system, messages]) + (isObject(body["cache_control"]) ? 1 : 0);
  return found > 4 ? tooManyBreakpoints(found) : undefined;
}

/** Not inside what a client writes freely: `input` and `input_schema` may have a property of that name. */
function breakpointsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((total: number, one) => total + breakpointsIn(one), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((total, [key, one]) => {
    if (key === "input" || key === "input_schema") return total;
    return total + (key === "cache_control" ? (isObject(one) ? 1 : 0) : breakpointsIn(one));
  }, 0);
}
