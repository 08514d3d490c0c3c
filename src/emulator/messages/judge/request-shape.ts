/**
 * The top level of a Messages request: known parameters, their types and limits. What passes here is a `ParsedMessages`;
 * messages are still unjudged. Field list: @anthropic-ai/sdk 1.8.0, MessageCreateParamsBase (also of the beta).
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceMember,
  stringOf,
} from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { by, ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import { kindTable } from "../../shape/value-kind.ts";
import {
  budgetTooLarge,
  emptyText,
  forcedTool,
  patternMismatch,
  temperatureWhileThinking,
  tooManyBreakpoints,
  toolNamesRepeat,
  tooSmall,
  unknownModel,
  wrongType,
} from "../refusals.ts";
import { TOOL_NAME_PATTERN } from "../vocabulary.ts";
import { withoutCacheControl } from "./context.ts";
import { messagesRows } from "./shape-words.ts";
import { parseThinking, type Thinking } from "./thinking-config.ts";

const { each, field, is, mustBe, mustBeOneOf, oneOf, required, sent, under } = messagesRows;

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

const counted = kindTable({
  object: "cache_control output_config thinking tool_choice",
  array: "messages tools",
  string: "model",
  any: "system",
});

const created = kindTable({
  object: "diagnostics metadata",
  array: "stop_sequences",
  string: "inference_geo service_tier speed user_profile_id workspace_id",
  integer: "max_tokens top_k",
  number: "temperature top_p",
  boolean: "stream",
  any: "container",
});

/** Known only with an `anthropic-beta` header. */
const inBeta = kindTable({
  object: "compaction context_management output_format thread",
  array: "mcp_servers",
  any: "fallbacks",
});

const efforts = ["low", "medium", "high", "xhigh", "max"];

export function parseMessages(options: {
  readonly body: unknown;
  readonly text: string;
  readonly betas: readonly string[];
  /** `count_tokens` takes only what is counted. */
  readonly counting: boolean;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ParsedMessages | ApiRefusal {
  const { body, text, betas } = options;
  if (!isObject(body)) return wrongType("body", "a valid dictionary");
  const wrong = parametersOf(options)(body, "");
  if (wrong !== undefined) return wrong;
  const model = String(body["model"]);
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const thinking = parseThinking(body, { model, traits, betas });
  if ("rule" in thinking) return thinking;
  const limited = limitsOf(thinking)(body, "") ?? checkBreakpoints(body);
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

function parametersOf(options: {
  readonly betas: readonly string[];
  readonly counting: boolean;
}): Row<ApiRefusal> {
  const own = options.counting ? [] : created;
  const known = new Map([...counted, ...own, ...(options.betas.length > 0 ? inBeta : [])]);
  const needed = ["model", "messages", ...(options.counting ? [] : ["max_tokens"])];
  return rows(
    ...needed.map((name) => field(name, required())),
    sent(known, (name) => !needed.includes(name)),
  );
}

const isToolName = (name: unknown): boolean => typeof name === "string" && TOOL_NAME_PATTERN.test(name);
const choices = ["auto", "any", "tool", "none"];

/** What the model takes, in the order in which the API looks at it. */
function limitsOf({ budget = 0, on, mode }: Thinking): Row<ApiRefusal> {
  return rows(
    field(
      "max_tokens",
      ensure(
        (tokens: number) => tokens >= 1,
        (path) => tooSmall(path, 1),
      ),
      ensure((tokens: number) => budget < tokens, budgetTooLarge),
    ),
    field("temperature", orNull(ensure((value) => !on || value === 1, temperatureWhileThinking))),
    field(
      "system",
      orNull(is(["string", "array"], "a valid list")),
      each(
        is("object"),
        field(
          "text",
          mustBe("string"),
          ensure(
            (text) => text !== "",
            () => emptyText("system"),
          ),
        ),
      ),
    ),
    field("tools", each(is("object"), ownTool())),
    field(
      "tool_choice",
      field("type", mustBeOneOf(choices)),
      by(({ type }) => (type === "tool" ? under("tool", field("name", mustBe("string"))) : undefined)),
      field(
        "type",
        ensure((type) => mode !== "enabled" || (type !== "any" && type !== "tool"), forcedTool),
      ),
    ),
    field("output_config", field("effort", orNull(oneOf(efforts)))),
  );
}

/** Server tools have shapes of their own; of the others no name comes twice. */
function ownTool(): Row<ApiRefusal> {
  const names = new Set<unknown>();
  const shape = under(
    "custom",
    field(
      "name",
      required(),
      ensure(isToolName, (path) => patternMismatch("X-tools", path, TOOL_NAME_PATTERN.source)),
    ),
    field("input_schema", mustBe("object")),
    field(
      "name",
      ensure((name) => names.size < names.add(name).size, toolNamesRepeat),
    ),
  );
  return by(({ type }) => ((stringOf(type) ?? "custom") === "custom" ? shape : undefined));
}

function checkBreakpoints(body: JsonObject): ApiRefusal | undefined {
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
