/**
 * The top level of a request: known parameters, their types and the limits the live API enforces. A request that passes
 * is a `ParsedRequest`; its input items are still unjudged. Field list: failures.md §2.1.
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
} from "../../../base/support/index.ts";
import { refuse, type ApiRefusal } from "../../api-refusal.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { by, ensure, orNull, type Row, rows } from "../../shape/shape-rows.ts";
import { kindTable } from "../../shape/value-kind.ts";
import {
  badToolName,
  ciphertextUnsupported,
  integerTooSmall,
  invalidType,
  unknownModel,
  unknownParameter,
  unsupportedParameter,
} from "./refusals.ts";
import { noLongerThan, notEmpty, responsesRows } from "./shape-words.ts";

const { each, field, is, mustBe, oneOf, only, required, sent } = responsesRows;

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
  /** The texts of `instructions` and `tools` as sent, for the prefix. */
  readonly head: string;
  readonly store: boolean;
  readonly stream: boolean;
  readonly include: readonly string[];
  /** Refusals that a strict server would have returned; empty if the judge is strict. */
  readonly tolerated: readonly ApiRefusal[];
}

const parameters = kindTable({
  boolean: "background parallel_tool_calls store stream",
  array: "context_management include tools",
  any: "conversation input tool_choice",
  string:
    "instructions model previous_response_id prompt_cache_key prompt_cache_retention safety_identifier " +
    "service_tier truncation user",
  integer: "max_output_tokens max_tool_calls top_logprobs",
  // `client_metadata` is in no type of the official client, but codex sends it with every request (0.166).
  object:
    "access_programs client_metadata image metadata moderation prompt prompt_cache_options reasoning stream_options text",
  number: "temperature top_p",
});

const includeValues = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

const parameterShape = rows(
  sent(parameters),
  field(
    "max_output_tokens",
    orNull(
      ensure(
        (count: number) => count >= 16,
        (path, count) => integerTooSmall(path, count, 16),
      ),
    ),
  ),
  field("model", mustBe("string")),
);

/** Parses a request. A lenient judge ignores unknown parameters. */
export function parseRequest(options: {
  readonly body: unknown;
  readonly text: string;
  readonly strict: boolean;
  readonly traitsOf: (model: string) => ModelTraits | undefined;
}): ParsedRequest | ApiRefusal {
  const { body: whole, text } = options;
  if (!isObject(whole)) return invalidType("body", "an object", whole);
  const { body, tolerated } = options.strict ? { body: whole, tolerated: [] } : withoutStrays(whole);
  const wrong = parameterShape(body, "");
  if (wrong !== undefined) return wrong;
  const model = body["model"] as string;
  const traits = options.traitsOf(model);
  if (traits === undefined) return unknownModel(model);
  const input = parseInput(body, text);
  if ("rule" in input) return input;
  const limited = limitsOf(traits)(body, "");
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
    tolerated,
  };
}

function withoutStrays(body: JsonObject): {
  readonly body: JsonObject;
  readonly tolerated: readonly ApiRefusal[];
} {
  const strays = Object.keys(body).filter((name) => !parameters.has(name));
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => parameters.has(name)));
  return { body: known, tolerated: strays.map((name) => unknownParameter("X-unknown", name)) };
}

function parseInput(body: JsonObject, text: string): ApiRefusal | { readonly items: readonly InputItem[] } {
  const input = body["input"];
  if (input === undefined || input === null) {
    // An empty list is a valid request (stored mode continues with it); a missing input is not.
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

const callable = rows(
  // S13: the chat-completions shape {type, function: {name, …}} has no name where this API expects it.
  field(
    "name",
    required("S13"),
    is("string"),
    notEmpty("X-empty"),
    ensure((name: string) => /^[\w-]+$/.test(name), badToolName),
  ),
  field("parameters", orNull(is("object"))),
);

/** The model's limits, in the API's order of checks. */
function limitsOf(traits: ModelTraits): Row<ApiRefusal> {
  const unsupported = orNull(ensure(() => false, unsupportedParameter));
  return rows(
    field(
      "tools",
      orNull(noLongerThan(128, "S12")),
      each(
        is("object"),
        field("type", required(), is("string")),
        by(({ type }) => (type === "function" || type === "custom" ? callable : undefined)),
      ),
    ),
    field(
      "reasoning",
      field(
        "effort",
        orNull(ensure((effort) => traits.reasoning || effort === "none", unsupportedParameter)),
      ),
      field("effort", orNull(is("string"), oneOf(efforts))),
      field("summary", orNull(is("string"), oneOf(["concise", "detailed", "auto"], "S07"))),
      only(["effort", "summary", "context", "mode", "generate_summary"]),
      field(
        "generate_summary",
        orNull(
          ensure(
            () => false,
            (path) => ({ ...unsupportedParameter(path), code: "unsupported_parameter" }),
          ),
        ),
      ),
    ),
    field(
      "include",
      each(
        is("string"),
        oneOf(includeValues),
        ensure(
          (one) => one !== "reasoning.encrypted_content" || traits.encryptedContent,
          ciphertextUnsupported,
        ),
      ),
    ),
    traits.sampling ? rows() : rows(field("temperature", unsupported), field("top_p", unsupported)),
    field(
      "text",
      field(
        "format",
        field("type", mustBe("string"), oneOf(["json_object", "json_schema", "text"])),
        by(({ type }) =>
          type === "json_schema"
            ? rows(field("name", mustBe("string")), field("schema", mustBe("object")))
            : undefined,
        ),
      ),
    ),
  );
}
