/**
 * A schema in the two forms the runtime needs: the JSON Schema for the provider, and the check that a value must pass.
 * Both come from the author's one schema, so they cannot diverge. Used for a tool's input and for structured output.
 */

import { isObject, type JsonObject, messageOf, ThroughlineError } from "../../base/support/index.ts";
import { type Issue, issuesToMessage } from "./issue-list.ts";
import { cloneJson, jsonSchemaValidator } from "./json-schema.ts";
import {
  isStandardSchema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from "./standard-schema.ts";

export type InputVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export interface InputSchema {
  readonly parameters: JsonObject;
  readonly validate: (input: unknown) => Promise<InputVerdict>;
}

/** Makes the error for a schema that cannot be used. It names the schema's owner. */
type Invalid = (problem: string, cause?: unknown) => ThroughlineError;

export function toInputSchema(input: StandardSchema | JsonObject, invalid: Invalid): InputSchema {
  if (isStandardSchema(input)) {
    const parameters = toParameters(convert(input, invalid), invalid);
    return { parameters, validate: (value) => validateStandard(input, value) };
  }
  if (!isObject(input)) throw invalid("its schema must be a Standard Schema or a JSON Schema object");
  return ofJsonSchema(toParameters(input, invalid), invalid);
}

/** A function of its own: the check would keep the author's schema in memory too. */
function ofJsonSchema(parameters: JsonObject, invalid: Invalid): InputSchema {
  const check = jsonSchemaOf(() => jsonSchemaValidator(parameters), invalid);
  return {
    parameters,
    validate: (value) => {
      const verdict = check(value);
      return Promise.resolve(verdict.ok ? { ok: true, value } : verdict);
    },
  };
}

export function toolInvalid(toolName: unknown, problem: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError({
    code: "tool_invalid",
    message: `Tool ${JSON.stringify(toolName) ?? typeof toolName}: ${problem}.`,
    details: { tool: toolName },
    cause,
  });
}

function convert(schema: StandardSchema, invalid: Invalid): JsonObject {
  const standard = schema["~standard"] as unknown as JsonObject;
  const converter = standard["jsonSchema"];
  const toJsonSchema = isObject(converter) ? converter["input"] : undefined;
  if (typeof toJsonSchema !== "function") {
    const vendor = String(standard["vendor"]);
    throw invalid(
      `its ${vendor} schema cannot be converted to JSON Schema. ` +
        (vendor === "valibot"
          ? "Wrap it with toStandardJsonSchema() from @valibot/to-json-schema"
          : "Use a library with Standard JSON Schema support (zod 4.2 or later, arktype) or pass a JSON Schema"),
    );
  }
  const toSchema = toJsonSchema as (options: { target: string }) => unknown;
  const converted = jsonSchemaOf(() => toSchema.call(converter, { target: "draft-2020-12" }), invalid);
  if (!isObject(converted)) throw invalid("its schema did not convert to a JSON Schema object");
  return converted;
}

/** Keywords that both OpenAI and Anthropic refuse next to `type: "object"` at the top of a tool's schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "enum"];

function toParameters(schema: JsonObject, invalid: Invalid): JsonObject {
  const { $schema: _, ...parameters } = jsonSchemaOf(() => cloneJson(schema), invalid);
  const refused = REFUSED_AT_TOP.find((keyword) => keyword in parameters);
  if (parameters["type"] !== "object" || refused !== undefined) {
    throw invalid(
      `its schema must describe an object at the top level${refused === undefined ? "" : `, without ${refused}`}. ` +
        "Put the value into a property of an object",
    );
  }
  // Providers refuse an object schema without `properties`; an empty `properties` accepts exactly the same values.
  return freeze({ ...parameters, properties: parameters["properties"] ?? {} });
}

async function validateStandard(schema: StandardSchema, input: unknown): Promise<InputVerdict> {
  try {
    const result = await (zodResult(schema, input) ?? schema["~standard"].validate(input));
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, message: issuesToMessage(result.issues.map(toIssue)) };
  } catch (error) {
    // A refinement that throws is a bug in the tool, but the model still needs an answer to its call.
    return { ok: false, message: `(input): the check itself failed: ${messageOf(error)}` };
  }
}

/**
 * zod's `validate` tries a schema synchronously first. It starts an asynchronous refinement twice and abandons the first
 * promise, whose rejection would end the process (zod 4.6). Its own asynchronous parser does neither.
 */
function zodResult(schema: StandardSchema, input: unknown): Promise<StandardResult<unknown>> | undefined {
  const { safeParseAsync } = schema as { readonly safeParseAsync?: (value: unknown) => Promise<ZodResult> };
  if (schema["~standard"].vendor !== "zod" || typeof safeParseAsync !== "function") return undefined;
  return safeParseAsync
    .call(schema, input)
    .then(({ data, error }) => (error === undefined ? { value: data } : { issues: error.issues }));
}

interface ZodResult {
  readonly data?: unknown;
  readonly error?: { readonly issues: readonly StandardIssue[] } | undefined;
}

function toIssue(issue: StandardIssue): Issue {
  const path = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
  return { path, problem: issue.message };
}

/** Runs `read` and names the schema's owner in any error. */
function jsonSchemaOf<Result>(read: () => Result, invalid: Invalid): Result {
  try {
    return read();
  } catch (error) {
    throw invalid(messageOf(error).replace(/\.$/, ""), error);
  }
}

/** A tool's schema is hashed and sent many times, so its author must not be able to change it later. */
function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}
