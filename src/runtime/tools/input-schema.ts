/**
 * A tool's input in the two forms the runtime needs: the JSON Schema for the provider, and the check that a call must
 * pass. Both come from the author's one schema, so they cannot diverge.
 */

import { isObject, type JsonObject, messageOf, ThroughlineError } from "../../base/support/index.ts";
import { type Issue, issuesToMessage } from "./issue-list.ts";
import { cloneJson, jsonSchemaValidator } from "./json-schema.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard-schema.ts";

export type InputVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export interface InputSchema {
  readonly parameters: JsonObject;
  readonly validate: (input: unknown) => Promise<InputVerdict>;
}

export function toInputSchema(toolName: string, input: StandardSchema | JsonObject): InputSchema {
  if (isStandardSchema(input)) {
    const parameters = toParameters(toolName, convert(toolName, input));
    return { parameters, validate: (value) => validateStandard(input, value) };
  }
  if (!isObject(input))
    throw toolInvalid(toolName, "input must be a Standard Schema or a JSON Schema object");
  const parameters = toParameters(toolName, input);
  const check = jsonSchemaOf(toolName, () => jsonSchemaValidator(parameters));
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

function convert(toolName: string, schema: StandardSchema): JsonObject {
  const standard = schema["~standard"] as unknown as JsonObject;
  const converter = standard["jsonSchema"];
  const toJsonSchema = isObject(converter) ? converter["input"] : undefined;
  if (typeof toJsonSchema !== "function") {
    const vendor = String(standard["vendor"]);
    throw toolInvalid(
      toolName,
      `its ${vendor} schema cannot be converted to JSON Schema. ` +
        (vendor === "valibot"
          ? "Wrap it with toStandardJsonSchema() from @valibot/to-json-schema"
          : "Use a library with Standard JSON Schema support (zod 4.2 or later, arktype) or pass a JSON Schema"),
    );
  }
  const toSchema = toJsonSchema as (options: { target: string }) => unknown;
  const converted = jsonSchemaOf(toolName, () => toSchema.call(converter, { target: "draft-2020-12" }));
  if (!isObject(converted)) throw toolInvalid(toolName, "its schema did not convert to a JSON Schema object");
  return converted;
}

/** Keywords that both OpenAI and Anthropic refuse next to `type: "object"` at the top of a tool's schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "enum"];

function toParameters(toolName: string, schema: JsonObject): JsonObject {
  const { $schema: _, ...parameters } = jsonSchemaOf(toolName, () => cloneJson(schema));
  const refused = REFUSED_AT_TOP.find((keyword) => keyword in parameters);
  if (parameters["type"] !== "object" || refused !== undefined) {
    throw toolInvalid(
      toolName,
      `its input must be an object schema at the top level${refused === undefined ? "" : `, without ${refused}`}. ` +
        "Put the value into a property of an object",
    );
  }
  // Providers refuse an object schema without `properties`; an empty `properties` accepts exactly the same values.
  return freeze({ ...parameters, properties: parameters["properties"] ?? {} });
}

async function validateStandard(schema: StandardSchema, input: unknown): Promise<InputVerdict> {
  try {
    const result = await schema["~standard"].validate(input);
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, message: issuesToMessage(result.issues.map(toIssue)) };
  } catch (error) {
    // A refinement that throws is a bug in the tool, but the model still needs an answer to its call.
    return { ok: false, message: `(input): the check itself failed: ${messageOf(error)}` };
  }
}

function toIssue(issue: StandardIssue): Issue {
  const path = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
  return { path, problem: issue.message };
}

/** Runs `read` and adds the tool's name to any error about its schema. */
function jsonSchemaOf<Result>(toolName: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw toolInvalid(toolName, messageOf(error).replace(/\.$/, ""), error);
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
