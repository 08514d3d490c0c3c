/**
 * The top level of a Messages request: known parameters, their types and limits. A request that passes is a
 * `ParsedMessages`; its messages are still unjudged. Field list: @anthropic-ai/sdk 1.8.0, MessageCreateParamsBase (also
 * of the beta).
 */

import { arrayOf, isObject, type JsonObject, objectOf, sliceMember } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { by, ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import { kindTable } from "../../shape/value-kind.ts";
import { type ClaudeTraits, claudeTraitsOf } from "../claude-models.ts";
import {
  budgetTooLarge,
  emptyText,
  forcedTool,
  forcedToolUnsupported,
  samplingDeprecated,
  temperatureWhileThinking,
  tooManyBreakpoints,
  tooManyInThread,
  tooSmall,
  unknownModel,
  wrongType,
} from "../refusals.ts";
import { textBlockOf, withoutCacheControl } from "./context.ts";
import { messagesRows } from "./shape-words.ts";
import { parseThinking, type Thinking } from "./thinking-config.ts";
import { toolRows } from "./tool-shape.ts";

const { each, field, is, mustBe, mustBeOneOf, oneOf, required, sent, under } = messagesRows;

export interface ParsedMessages {
  readonly body: JsonObject;
  /** As sent, plus what a thread held. */
  readonly text: string;
  readonly model: string;
  readonly traits: ModelTraits;
  readonly claude: ClaudeTraits;
  readonly messages: readonly JsonObject[];
  readonly messagesText: string;
  readonly tools: readonly JsonObject[];
  /** Texts as sent, without `cache_control`. */
  readonly system: string;
  readonly toolsText: string;
  readonly stream: boolean;
  readonly thinking: Thinking;
  readonly betas: readonly string[];
  /** Nothing is cached unless the request asks for it. */
  readonly caches: boolean;
}

const counted = kindTable({
  object: "cache_control output_config thinking tool_choice",
  array: "messages tools",
  string: "model speed user_profile_id workspace_id",
  any: "system",
});

const created = kindTable({
  object: "diagnostics metadata",
  array: "stop_sequences",
  string: "inference_geo service_tier",
  integer: "max_tokens top_k",
  number: "temperature top_p",
  boolean: "stream",
  any: "container",
});

/** Known only with an `anthropic-beta` header. */
const inBeta = kindTable({
  object: "compaction context_management output_format thread",
  array: "mcp_servers",
  string: "fallback_credit_token",
  any: "fallbacks",
});

const efforts = ["low", "medium", "high", "xhigh", "max"];

export function parseMessages(options: {
  readonly body: unknown;
  readonly text: string;
  readonly betas: readonly string[];
  /** `count_tokens` accepts only parameters that are counted. */
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
  const claude = claudeTraitsOf(model, traits);
  const thinking = parseThinking(body, { model, traits, claude, betas });
  if ("rule" in thinking) return thinking;
  const limited = limitsOf(thinking, claude)(body, "") ?? checkBreakpoints(body);
  if (limited !== undefined) return limited;
  return {
    body,
    text,
    model,
    traits,
    claude,
    messages: arrayOf(body["messages"]).map(objectOf),
    messagesText: sliceMember(text, "messages") ?? "[]",
    tools: arrayOf(body["tools"]).map(objectOf),
    system: systemText(sliceMember(text, "system")?.trim() ?? "null"),
    toolsText: withoutCacheControl(sliceMember(text, "tools") ?? "[]"),
    stream: body["stream"] === true,
    thinking,
    betas,
    caches: text.includes('"cache_control"'),
  };
}

function systemText(raw: string): string {
  return withoutCacheControl(raw.startsWith('"') ? `[${textBlockOf(raw)}]` : raw);
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

const choices = ["auto", "any", "tool", "none"];

const forces = (type: unknown): boolean => type === "any" || type === "tool";

const usualSampling = { temperature: 1, top_p: 1, top_k: undefined } as const;

/** Newer models have no such parameters; some accept the default value. */
function sampling(name: string, usual: number | undefined, claude: ClaudeTraits): Row<ApiRefusal> {
  return ensure(
    (value) => claude.sampling === "any" || (claude.sampling === "default" && value === usual),
    () => samplingDeprecated(name),
  );
}

/** The model's limits, in the API's order of checks. */
function limitsOf({ budget = 0, on, mode }: Thinking, claude: ClaudeTraits): Row<ApiRefusal> {
  return rows(
    ...Object.entries(usualSampling).map(([name, usual]) =>
      field(name, orNull(sampling(name, usual, claude))),
    ),
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
    field("tools", each(is("object"), toolRows())),
    field(
      "tool_choice",
      field("type", mustBeOneOf(choices)),
      by(({ type }) => (type === "tool" ? under("tool", field("name", mustBe("string"))) : undefined)),
      field(
        "type",
        ensure((type) => claude.forcedTool || !forces(type), forcedToolUnsupported),
        ensure((type) => mode !== "enabled" || !forces(type), forcedTool),
      ),
    ),
    field("output_config", field("effort", orNull(oneOf(efforts)))),
  );
}

function checkBreakpoints(body: JsonObject): ApiRefusal | undefined {
  const { tools, system, messages } = body;
  const found = breakpointsIn([tools, system, messages]) + (isObject(body["cache_control"]) ? 1 : 0);
  if (isObject(body["thread"]) && found > 3) return tooManyInThread(found);
  return found > 4 ? tooManyBreakpoints(found) : undefined;
}

/** Ignores free-form values: `input` and `input_schema` may have a property of that name. */
function breakpointsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((total: number, one) => total + breakpointsIn(one), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((total, [key, one]) => {
    if (key === "input" || key === "input_schema") return total;
    return total + (key === "cache_control" ? (isObject(one) ? 1 : 0) : breakpointsIn(one));
  }, 0);
}
